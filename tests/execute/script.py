"""Small Python programs as commands, so that no test depends on what a machine has installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from truepenny.execute.command import Command


def python(code: str, **changes: Any) -> Command:
    """Return a command that runs the code in an isolated interpreter."""
    changes.setdefault("env", {"PATH": os.defpath})
    changes.setdefault("timeout", 30.0)
    return Command((sys.executable, "-I", "-S", "-c", code), **changes)


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except FileNotFoundError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")
