"""The system programs that a sandbox is made with, from places only an administrator can change.

They run before anything is held, with all our rights, so PATH is never asked: it may name a
folder that a command could write.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from truepenny.errors import ConfigurationError

from .plan import Account

FOLDERS = (
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",  # NixOS keeps nothing in the others
)

SHELL = "/bin/sh"

ENVIRONMENT = {"PATH": ":".join(FOLDERS[:4]), "LC_ALL": "C"}
"""What such a program is started with: its messages are read by us, so they are not translated."""

STEERING = ("LD_", "BASH_", "MALLOC_")
STEERING_NAMES = frozenset(
    ("ENV", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "PATH_LOCALE", "PS4", "TZDIR")
)
"""Variables that make the loader, the C library or a shell read files or run programs."""


def find(name: str) -> str | None:
    """Return the path of a system program, or None. One that others may write is not taken."""
    for folder in FOLDERS:
        path = f"{folder}/{name}"
        try:
            found = os.stat(path)
        except OSError:
            continue
        ours = found.st_uid in (0, os.geteuid())
        if stat.S_ISREG(found.st_mode) and ours and not found.st_mode & 0o022:
            return path
    return None


def check_variables(env: Mapping[str, str], account: Account) -> None:
    """Refuse variables that would act on our own words while they are root still.

    Only a back end that cannot hand variables over on the inside needs it. Raises
    ConfigurationError naming the variable.
    """
    if not account.drop:
        return  # The words have the program's own rights and no more.
    for name in env:
        if name.startswith(STEERING) or name in STEERING_NAMES:
            raise ConfigurationError(
                f"the variable {name} cannot be passed on: it would act before {account.name} does",
                where="sandbox",
                remedy="Set it in the command line itself, or use the level `bwrap`.",
            )
