"""The words that turn root into an ordinary account before anything else is started.

They come before bubblewrap: inside its user namespace one number alone is mapped and no other can
be taken on any more. They cost a start of `setpriv` (about 1 ms) and need no step in our own
process between fork and exec, which would cost more.
"""

from __future__ import annotations

from truepenny.errors import CouldNotRun

from .plan import Account
from .trusted import find

PROGRAM = "setpriv"


def drop_words(account: Account) -> tuple[str, ...]:
    """Return the words to put before a program; none where the account is already ours.

    The account has no other groups, no capabilities, and no way to gain any by a setuid program.
    Raises CouldNotRun where util-linux is not installed.
    """
    if not account.drop:
        return ()
    program = find(PROGRAM)
    if program is None:
        raise CouldNotRun(
            f"root cannot become {account.name}: there is no {PROGRAM}",
            where="sandbox",
            remedy="Install util-linux, or start Truepenny as an ordinary user.",
        )
    return (
        program,
        f"--reuid={account.uid}",
        f"--regid={account.gid}",
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
        "--bounding-set=-all",
    )
