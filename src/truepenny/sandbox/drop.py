"""The words that turn root into an ordinary account before anything else is started.

They come before bubblewrap: inside its user namespace one number alone is mapped and no other can
be taken on any more. They cost a start of `setpriv` (about 1 ms) and need no step in our own
process between fork and exec, which would cost more.
"""

from __future__ import annotations

from truepenny.errors import CouldNotRun

from .confinement import NotStarted, Refused
from .plan import Account
from .trusted import find

PROGRAM = "setpriv"

EXEC = f"{PROGRAM}: failed to execute "
CODES = {127: Refused.MISSING, 126: Refused.NOT_EXECUTABLE}


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


def exec_failure(code: int | None, stderr: str) -> NotStarted | None:
    """Return why the program after `drop_words` did not start; None where nothing says so.

    It is what `setpriv` prints, alone, with the code that it then has. A program that prints just
    that and ends so is taken for one that never started: these words have no other channel.
    """
    why, line = CODES.get(code or 0), stderr.removesuffix("\n")
    if why is None or not line.startswith(EXEC) or "\n" in line:
        return None
    return NotStarted(why, line.removeprefix(EXEC))
