"""Clear away what crashes leave beside locks: candidates that never became one."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from pathlib import Path

from .lock_record import CANDIDATE, decode_record
from .lock_recovery import CLAIM

MAX_AGE = 3600.0
"""Seconds; a candidate lives for milliseconds, so an hour is beyond any doubt."""

INTERVAL = 3600.0
"""Seconds between sweeps of one directory by one process."""

UNLINK_TRIES = 3
"""Tries per file; a failure is left for the next sweep."""

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CANDIDATE = re.compile(rf".+{re.escape(CANDIDATE)}{_UUID}")
_CLAIM = re.compile(rf".+{re.escape(CLAIM)}[0-9a-f]{{32}}")

_swept: dict[Path, float] = {}
_guard = threading.Lock()


def sweep_candidates(directory: Path, *, force: bool = False) -> int:
    """Remove old candidates and dead claims; return how many. Failures are only advisory.

    Runs once per directory and hour, or now with `force`. A name that merely contains the marker is
    a lock of somebody's and stays.
    """
    now = time.monotonic()
    with _guard:
        last = _swept.get(directory)
        if not force and last is not None and now - last < INTERVAL:
            return 0
        _swept[directory] = now
    try:
        entries = list(directory.iterdir())
    except OSError:
        return 0
    return sum(_sweep(entry) for entry in entries if _is_garbage(entry))


def _is_garbage(entry: Path) -> bool:
    try:
        if _CANDIDATE.fullmatch(entry.name):
            return time.time() - entry.stat().st_mtime > MAX_AGE
        if _CLAIM.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > MAX_AGE:
            record = decode_record(entry.read_bytes())
            return record is not None and record.proven_dead
    except OSError:
        return False
    return False


def _sweep(entry: Path) -> bool:
    for _ in range(UNLINK_TRIES):
        with contextlib.suppress(OSError):
            entry.unlink(missing_ok=True)
            return True
    return False
