"""The system programs that a sandbox is made with, from places only an administrator can change.

They run before anything is held, with all our rights, so PATH is never asked: it may name a
folder that a command could write.
"""

from __future__ import annotations

import os
import stat

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
