"""What a machine and an account have that some attempts, or the runs that show them alive, need."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from functools import cache
from pathlib import Path

CAP_SYS_ADMIN = 21


def has(need: str) -> bool:
    """Whether something is there: `root` (to set up what an attempt goes for), `ipv6`, `marks`
    (extended attributes of files), or `linux X.Y`, the kernel from which on a call exists."""
    if need.startswith("linux "):
        return _version(platform.release()) >= _version(need.removeprefix("linux "))
    match need:
        case "root":
            return os.geteuid() == 0
        case "ipv6":
            path = Path("/proc/net/if_inet6")
            return path.exists() and bool(path.read_text(encoding="ascii"))
        case "marks":
            return _takes_marks()
        case other:
            raise ValueError(other)


def administers() -> bool:
    """Whether we may do what root of a plain machine may, and root of a container may not."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> CAP_SYS_ADMIN & 1)


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


@cache
def _takes_marks() -> bool:
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.setxattr(file.name, "user.mark", b"")
        except OSError:
            return False
    return True
