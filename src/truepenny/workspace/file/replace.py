"""Putting new content in the place of a file, whole or not at all, one writer after the other."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from truepenny.system.atomic import publish_at

from .access import FileAccess
from .fault import FileFault, changed, failure
from .place import Need, Place, find_place

NEW_FILE_MODE = 0o666
"""Of a new file, less the umask: what any editor makes."""


class _Turn:
    """The lock of one real path; gone when nobody holds or awaits it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_turns: WeakValueDictionary[Path, _Turn] = WeakValueDictionary()
_guard = threading.Lock()


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Let writers of one real path in this process follow each other; others are not kept out."""
    with _guard:
        turn = _turns.get(path)
        if turn is None:
            turn = _turns[path] = _Turn()
    with turn.lock:
        yield


@contextmanager
def opened_alone(files: FileAccess, argument: str) -> Generator[Place]:
    """Open a place to write, as it is once the writers before this one are done."""
    with find_place(files, argument, Need.WRITE) as place:
        path = place.path
    with alone(path), find_place(files, argument, Need.WRITE) as place:
        if place.path != path:  # a link on the way was changed: another file's turn
            raise changed(path)
        if place.found is not None:
            place.require_file()
        yield place


def replace(place: Place, data: bytes, seen: os.stat_result | None) -> dict[str, Any]:
    """Publish `data` at the place if it still is what was `seen` there (None: nothing).

    Returns `before`, `after` (identities), `made_directories`, `durable` and `warning`. Raises
    FileFault; then nothing was changed but directories that may have been made. Between the last
    look and the rename a process outside may still write: then the rename wins.
    """
    if seen is not None and not _writable(place):
        # A rename asks nobody; who took the right to write away meant it all the same.
        raise FileFault(
            "no_permission",
            f"{place.path} may not be written (mode {stat.S_IMODE(seen.st_mode):04o})",
            "change its mode first if it is meant to change",
        )
    made = place.make_parents()

    def check() -> None:
        if identity(_now(place)) != identity(seen):
            raise changed(place.path)

    try:
        warning = publish_at(place.parent, place.name, data, created=NEW_FILE_MODE, before=check)
    except OSError as error:
        raise failure(error, place.path, "Writing") from error
    return {
        "before": identity(seen),
        "after": identity(_now(place)),
        "made_directories": made,
        "durable": not warning,
        "warning": warning,
    }


def identity(found: os.stat_result | None) -> dict[str, int] | None:
    """Return what tells one state of a file from another."""
    if found is None:
        return None
    return {
        "device": found.st_dev,
        "inode": found.st_ino,
        "bytes": found.st_size,
        "mtime_ns": found.st_mtime_ns,
        "mode": found.st_mode & 0o7777,
    }


def _writable(place: Place) -> bool:
    return os.access(
        place.name, os.W_OK, dir_fd=place.parent, effective_ids=True, follow_symlinks=False
    )


def _now(place: Place) -> os.stat_result | None:
    try:
        return os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
