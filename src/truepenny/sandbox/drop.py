"""The words that turn root into an ordinary account before anything else is started.

They come before bubblewrap: inside its user namespace one number alone is mapped and no other can
be taken on any more. They cost a start of `setpriv` (about 1 ms) and need no step in our own
process between fork and exec, which would cost more.
"""

from __future__ import annotations

import functools
import grp
import os
import pwd

from truepenny.errors import CouldNotRun

from .confinement import NotStarted, Refused
from .plan import Account
from .trusted import find

PROGRAM = "setpriv"

USERS, GROUPS = "/etc/passwd", "/etc/group"
"""Both have a name, a password's place and a number in each line, and more after them."""

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
        f"--reuid={_spelled(USERS, account.uid, _edition(USERS))}",
        f"--regid={_spelled(GROUPS, account.gid, _edition(GROUPS))}",
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
        "--bounding-set=-all",
    )


def _edition(table: str) -> tuple[int, int]:
    """Return what changes when the table does; nothing does where there is none."""
    try:
        found = os.stat(table)
    except OSError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _spelled(table: str, number: int, edition: tuple[int, int]) -> str:
    """Return a name that means the number in this edition of the table, or else the number.

    `setpriv` looks up even a number as if it were a name. One that the local table does not have
    is asked of every other source of accounts, which takes 0.4 ms; the name of it is found at once.
    """
    look = _user_number if table == USERS else _group_number
    try:
        with open(table, encoding="utf-8", errors="replace") as lines:
            rows = [line.split(":") for line in lines]
        for row in rows:
            if row[2:3] == [str(number)] and look(row[0]) == number:
                return row[0]
    except (OSError, KeyError):
        pass
    return str(number)


def _user_number(name: str) -> int:
    return pwd.getpwnam(name).pw_uid


def _group_number(name: str) -> int:
    return grp.getgrnam(name).gr_gid


def exec_failure(code: int | None, stderr: str) -> NotStarted | None:
    """Return why the program after `drop_words` did not start; None where nothing says so.

    It is what `setpriv` prints, alone, with the code that it then has. A program that prints just
    that and ends so is taken for one that never started: these words have no other channel.
    """
    why, line = CODES.get(code or 0), stderr.removesuffix("\n")
    if why is None or not line.startswith(EXEC) or "\n" in line:
        return None
    return NotStarted(why, line.removeprefix(EXEC))
