"""Which runs are kept: the newest by their end. A run that goes on is never touched.

What cannot be read as a manifest of ours is left alone and reported: it is somebody else's, and
reading it must neither wait nor be fooled (a pipe or a link named like a manifest).
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from truepenny.system.lock_record import decode_record

from .folder import MANIFEST, OWNER, RUN_ID
from .manifest import MANIFEST_BYTES

ORPHAN_AGE = timedelta(hours=24)
"""A folder without a manifest is kept so long: somebody may still look at its logs."""

_CHUNK = 8 * 1024
_OWNER_BYTES = 4096
_MOST_TOLD = 16
"""Names of skipped entries that are told; the count is of all."""


@dataclass(slots=True)
class Sweep:
    """What a sweep came to. `skipped` names entries that are no run of ours, with the reason."""

    removed: int = 0
    kept: int = 0
    active: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def record(self) -> dict[str, Any]:
        """Return it as JSON."""
        told = [{"name": name, "reason": why} for name, why in self.skipped[:_MOST_TOLD]]
        return {
            "removed": self.removed,
            "kept": self.kept,
            "active": self.active,
            "skipped": len(self.skipped),
            "skippedEntries": told,
        }


class NotRead(Exception):
    """A file is not what it should be; the message is a machine word."""


def sweep(runs: Path, keep: int, now: datetime) -> Sweep:
    """Remove what is older than the newest `keep` finished runs, and orphans. Call it in a thread.

    Never raises for what it finds: what cannot be removed counts as kept.
    """
    result = Sweep()
    finished: list[tuple[datetime, Path]] = []
    for path in _folders(runs, result):
        try:
            ended = _finished_at(path)
        except NotRead as problem:
            result.skipped.append((path.name, str(problem)))
            continue
        if ended is not None:
            finished.append((ended, path))
        elif _active(path):
            result.active += 1
        elif now - _changed(path, now) > ORPHAN_AGE:
            _remove(path, result)
        else:
            result.kept += 1
    finished.sort(key=lambda run: (run[0], run[1].name), reverse=True)
    result.kept += len(finished[:keep])
    for _, path in finished[keep:]:
        _remove(path, result)
    return result


def _folders(runs: Path, result: Sweep) -> Iterator[Path]:
    try:
        with os.scandir(runs) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        result.skipped.append((runs.name, f"unreadable: {error.strerror}"))
        return
    for entry in found:
        if not RUN_ID.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
            result.skipped.append((entry.name, "not-a-run"))
        else:
            yield Path(entry.path)


def _finished_at(path: Path) -> datetime | None:
    """Return when the run ended, None without a manifest. Raises NotRead."""
    data = read_small(path / MANIFEST, MANIFEST_BYTES)
    if data is None:
        return None
    try:
        value: Any = json.loads(data)
        ended = datetime.fromisoformat(cast("dict[str, str]", value)["finishedAt"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NotRead("unreadable-manifest") from None
    return ended if ended.tzinfo is not None else ended.replace(tzinfo=UTC)


def read_small(path: Path, most: int) -> bytes | None:
    """Return the content of a small regular file, None where there is none; it never waits.

    Raises NotRead for anything else at that place, for a larger file, and for one that cannot be
    read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotRead(_kind(path) or f"unreadable: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRead("not-a-regular-file")
        data = bytearray()
        while len(data) <= most and (piece := os.read(handle, _CHUNK)):
            data += piece
    except OSError as error:
        raise NotRead(f"unreadable: {error.strerror}") from None
    finally:
        os.close(handle)
    if len(data) > most:
        raise NotRead("too-large")
    return bytes(data)


def _kind(path: Path) -> str:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    return "" if stat.S_ISREG(mode) else "not-a-regular-file"


def _active(path: Path) -> bool:
    """Whether its owner is not proven dead."""
    try:
        data = read_small(path / OWNER, _OWNER_BYTES)
    except NotRead:
        return False
    record = None if data is None else decode_record(data)
    return record is not None and not record.proven_dead


def _changed(path: Path, otherwise: datetime) -> datetime:
    """Return when something in the folder was last changed: the folder, or a log in it."""
    newest = None
    with suppress(OSError):
        newest = path.lstat().st_mtime
        with os.scandir(path) as entries:
            for entry in entries:
                newest = max(newest, entry.stat(follow_symlinks=False).st_mtime)
    return otherwise if newest is None else datetime.fromtimestamp(newest, UTC)


def _remove(path: Path, result: Sweep) -> None:
    # It refuses to start at a symbolic link and follows none on the way.
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        result.kept += 1
    else:
        result.removed += 1
