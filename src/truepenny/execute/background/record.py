"""What stands on the disk about a background run, so that another process can tell how it went.

One JSON file beside the output, published whole. A record that says "running" and whose owner is
proven dead is a run that was lost: how it ended nobody saw.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from truepenny.system.atomic import publish
from truepenny.system.lock_record import LockRecord, decode_record

MOST_BYTES = 64 * 1024
"""A record has about a kilobyte; a longer file is none."""


class State(StrEnum):
    """Where a run is. All but `running` are final."""

    RUNNING = "running"
    EXITED = "exited"
    """It ended by itself, or by its own limits of time and output; the execution says how."""
    STOPPED = "stopped"
    """It lived when it was asked to end."""
    FAILED = "failed"
    """It never began, or our own handling of it broke."""
    LOST = "lost"
    """Its runtime died with it; only ever read from a record."""


@dataclass(frozen=True, slots=True)
class Record:
    """The record. Times are RFC 3339 in UTC; `ended_at` is empty while it runs."""

    id: str
    owner: str
    label: str
    state: State
    started_at: str
    ended_at: str
    exit: int | None
    signal: int | None
    cause: str
    cut: int
    runtime: LockRecord

    def write(self, path: Path) -> None:
        """Publish it. Raises StorageFailed."""
        value = {
            "id": self.id,
            "owner": self.owner,
            "label": self.label,
            "state": str(self.state),
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "exit": self.exit,
            "signal": self.signal,
            "cause": self.cause,
            "cut": self.cut,
            "runtime": self.runtime.encode().decode(),
        }
        publish(path, json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n")


def read_record(path: Path) -> Record | None:
    """Read a record; None for anything that is not exactly one. Raises OSError.

    A symbolic link, a pipe or a file of another user is not one.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return None
        data = os.read(handle, MOST_BYTES + 1)
    finally:
        os.close(handle)
    if len(data) > MOST_BYTES:
        return None
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return _decode(cast("dict[str, Any]", value)) if isinstance(value, dict) else None


def _decode(value: dict[str, Any]) -> Record | None:
    names = ("id", "owner", "label", "state", "started_at", "ended_at", "cause", "runtime")
    words = [value.get(name) for name in names]
    numbers = [value.get(name) for name in ("exit", "signal")]
    cut = value.get("cut")
    if not all(isinstance(word, str) for word in words) or not isinstance(cut, int):
        return None
    if not all(number is None or isinstance(number, int) for number in numbers):
        return None
    identity, owner, label, state, started, ended, cause, runtime = cast("list[str]", words)
    code, number = cast("list[int | None]", numbers)
    by = decode_record(runtime.encode())
    if by is None or state not in set(State):
        return None
    if state == State.RUNNING and by.proven_dead:
        state = State.LOST
    return Record(
        identity, owner, label, State(state), started, ended, code, number, cause, cut, by
    )
