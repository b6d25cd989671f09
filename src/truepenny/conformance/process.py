"""Processes that a call left behind, seen from outside by a number among their arguments."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

MOST_SHOWN = 80
"""Characters of a command line in a report."""


def marked(mark: str) -> dict[int, str]:
    """Return the living processes with the mark among their arguments, and what they are.

    It reads /proc; a process of another account counts as well. Ours never does.
    """
    found: dict[int, str] = {}
    needle = mark.encode()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            words = Path(entry.path, "cmdline").read_bytes()
            if needle in words and _lives(Path(entry.path)):
                text = words.replace(b"\0", b" ").decode("utf-8", "replace").strip()
                found[int(entry.name)] = text[:MOST_SHOWN]
    return found


def _lives(process: Path) -> bool:
    # A zombie holds nothing and cannot be ended; its arguments are gone in any case.
    stat = (process / "stat").read_text(encoding="utf-8", errors="replace")
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def end(mark: str) -> None:
    """Kill what is marked. The mark is a number of our own, so nothing else can be."""
    for pid in marked(mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
