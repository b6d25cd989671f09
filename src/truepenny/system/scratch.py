"""Temporary folders that know their owner, so that what a `kill -9` leaves is cleared away.

A folder is named `truepenny-<kind>-<random>` and has the record of its owner in it. Whoever makes
one first removes those of the same kind whose owner is proven dead: never by age, never another
user's, never through a symbolic link. One without a readable record stays: nothing is proven.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path

from .lock_record import LockRecord, decode_record

OWNER = "owner"
"""The file in the folder with the record; written first, before anything that is worth keeping."""

MOST_RECORD_BYTES = 4096
"""A record has some 300 bytes; of anything longer no more is read, and that is not a record."""


@contextlib.contextmanager
def scratch_folder(kind: str) -> Generator[Path]:
    """Make a private folder (mode 0700) for the time of the context; sweep its kind before.

    `kind` is one word, such as `call`. Raises OSError where no folder can be made. A folder that
    cannot be removed is left for the next sweep.
    """
    sweep(kind)
    folder = Path(tempfile.mkdtemp(prefix=_prefix(kind)))
    try:
        (folder / OWNER).write_bytes(LockRecord.mine(kind).encode())
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _remove_by_name(folder)


def _remove_by_name(folder: Path) -> None:
    """Remove a folder with nothing but its record in it, for where no descriptor is left to look
    inside. The record is back if there was more: without one it would never be swept."""
    record, aside = folder / OWNER, folder.with_name(f"{folder.name}-{OWNER}")
    with contextlib.suppress(OSError):
        folder.rmdir()
        return
    with contextlib.suppress(OSError):
        os.rename(record, aside)
        try:
            folder.rmdir()
        except OSError:
            os.rename(aside, record)
        else:
            aside.unlink()


def sweep(kind: str) -> int:
    """Remove the folders of a kind that the dead left; return how many. It costs one listing."""
    prefix, removed = _prefix(kind), 0
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            found = [entry.path for entry in entries if entry.name.startswith(prefix)]
    except OSError:
        return 0  # What cannot be listed cannot be written either: making the folder says so.
    for path in found:
        if _abandoned(path):
            # It refuses to start at a symbolic link and follows none on the way.
            shutil.rmtree(path, ignore_errors=True)
            removed += not os.path.lexists(path)
    return removed


def _prefix(kind: str) -> str:
    return f"truepenny-{kind}-"


def _abandoned(path: str) -> bool:
    """Whether it is a folder of this user whose owner is proven dead."""
    with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
        # Opened once and looked at through the descriptor, so that all of it is about one folder.
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        stack.callback(os.close, folder)
        if os.fstat(folder).st_uid != os.geteuid():
            return False
        # Never waiting: in the place of the record there may be a pipe.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        file = os.open(OWNER, flags, dir_fd=folder)
        stack.callback(os.close, file)
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return False
        record = decode_record(os.read(file, MOST_RECORD_BYTES))
        return record is not None and record.proven_dead
    return False
