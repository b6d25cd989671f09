"""Whether an account can enter and write a folder: tried as that account, never guessed.

Modes alone do not tell it (access lists, read-only file systems, security modules), so where we
are root a short child becomes the account and tries.
"""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from truepenny.errors import CouldNotRun

from .drop import drop_words
from .plan import Account
from .trusted import ENVIRONMENT, SHELL

SECONDS = 10.0
"""The child takes milliseconds; a folder on a dead network file system takes for ever."""

_NO_ENTRY, _NO_WRITING = 3, 4
_SCRIPT = f'cd -- "$1" && ls -- . >/dev/null || exit {_NO_ENTRY}; [ -w . ] || exit {_NO_WRITING}'


@dataclass(frozen=True, slots=True)
class Access:
    """What the account may do in the folder. `enter` includes listing it."""

    enter: bool
    write: bool


def folder_access(account: Account, folder: Path) -> Access:
    """Try it. Raises CouldNotRun where the account cannot even be become."""
    if not account.drop:
        enter = os.access(folder, os.R_OK | os.X_OK)
        return Access(enter, enter and os.access(folder, os.W_OK))
    argv = [*drop_words(account), SHELL, "-c", _SCRIPT, "sh", str(folder)]
    try:
        done = subprocess.run(
            argv,
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unknown(account, folder, str(error)) from error
    if done.returncode == 0:
        return Access(enter=True, write=True)
    if done.returncode == _NO_WRITING:
        return Access(enter=True, write=False)
    if done.returncode == _NO_ENTRY:
        return Access(enter=False, write=False)
    first = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    raise _unknown(account, folder, first or f"exit code {done.returncode}")


@functools.lru_cache(maxsize=256)
def reaches(account: Account, folder: Path) -> bool:
    """Whether it can enter a folder that nobody changes while we run: asked once for each."""
    return folder_access(account, folder).enter


def require_entry(account: Account, folder: Path) -> Access:
    """Return what it may do there; CouldNotRun, with the ways out, where it cannot enter."""
    access = folder_access(account, folder)
    if access.enter:
        return access
    remedy = f"Give {account.name} the right to enter it and every folder above."
    if account.drop:
        remedy = (
            f"Run `chown -R {account.name} {folder}`, name the folder's owner in sandbox.account, "
            "or move the folder out of a private place such as /root."
        )
    raise CouldNotRun(
        f"the account {account.name} cannot enter {folder}", where="workspace", remedy=remedy
    )


def _unknown(account: Account, folder: Path, why: str) -> CouldNotRun:
    return CouldNotRun(
        f"whether {account.name} can enter {folder} cannot be found out: {why}",
        where="workspace",
        remedy="Start Truepenny as an ordinary user, or name another account in sandbox.account.",
    )
