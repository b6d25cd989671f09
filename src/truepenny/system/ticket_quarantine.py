"""Put aside a queue head that is no ticket, instead of letting it block the queue for ever.

Tickets are moved into place whole, so a broken one is damage, not work in progress. It is still
only put aside when nobody can be writing it: the process in its name is gone (or younger than the
ticket), and the file has not changed while we watched.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC
from pathlib import Path

from .atomic import publish, storage_failed
from .clock import Clock, timestamp
from .directories import ensure
from .process_identity import exists, started_at

WATCH = 1.0
"""Seconds for which a broken head must stay unchanged under our eyes."""

DIRECTORY = "quarantine"
"""Beside the tickets; holds each broken file and a `.reason.json` for it."""

_NAME = re.compile(r"(\d{16})-\d{6}-(\d{10})-.+\.ticket")


class Quarantine:
    """Watches broken heads for one waiter."""

    def __init__(self, tickets: Path, clock: Clock) -> None:
        self._tickets = tickets
        self._clock = clock
        self._seen: tuple[str, int, int, int] | None = None
        self._since = 0.0

    def consider(self, head: Path) -> bool:
        """Look at a broken head once more; return whether it is out of the way.

        Raises StorageFailed where it cannot be moved.
        """
        try:
            stat = head.stat()
        except FileNotFoundError:
            return True
        except OSError as error:
            raise storage_failed(error, head, "Reading the queue") from error
        seen = (head.name, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        now = self._clock.monotonic()
        if seen != self._seen:
            self._seen, self._since = seen, now
            return False
        reason = _writer_gone(head.name)
        if not reason or now - self._since < WATCH:
            return False
        self._move(head, reason, stat.st_size)
        return True

    def _move(self, head: Path, reason: str, size: int) -> None:
        aside = ensure(self._tickets / DIRECTORY) / head.name
        try:
            os.rename(head, aside)
        except FileNotFoundError:
            return  # another waiter was faster
        except OSError as error:
            raise storage_failed(error, head, "Putting a broken ticket aside") from error
        note = {
            "ticket": head.name,
            "bytes": size,
            "reason": reason,
            "at": timestamp(self._clock.now().astimezone(UTC)),
            "by": os.getpid(),
        }
        publish(
            aside.with_name(f"{head.name}.reason.json"),
            json.dumps(note, ensure_ascii=False).encode("utf-8") + b"\n",
        )


def _writer_gone(name: str) -> str:
    """Return why the writer named in a ticket cannot be at work, or nothing where it may be."""
    match = _NAME.fullmatch(name)
    if match is None:
        return "unreadable, and its name is not one that a ticket has"
    born, pid = int(match.group(1)) / 1000, int(match.group(2))
    if not exists(pid):
        return f"unreadable, and its process {pid} does not exist"
    started = started_at(pid)
    # The start is known to the second; the margin also covers a small step of the wall clock.
    if started is not None and started > born + 5:
        return f"unreadable, and its process {pid} started after it was written"
    return ""
