"""An append-only file of lines, private to its owner: what the transcript and the ledger are kept in.

A line is one write to a file opened for appending, so a dying process leaves at most one unfinished
line, at the end. A write that fails is undone as far as the system lets it; the journal then stays
as it is and says why in `broken`.
"""

from __future__ import annotations

import os
from pathlib import Path

import anyio.to_thread

from truepenny.errors import StorageFailed

FILE_MODE = 0o600
FOLDER_MODE = 0o700


class Journal:
    """Writes lines. Made by `create` or `reopen`; never raises after that."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.broken = ""
        """Why nothing more is written; empty while all is well."""
        self._descriptor: int | None = descriptor
        self._dirty = False

    @classmethod
    def create(cls, path: Path) -> Journal:
        """Make a new file, for the owner alone. Raises StorageFailed, also when it exists."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, FILE_MODE)
            _sync_folder(path.parent)
        except OSError as error:
            raise _failed(path, error) from error
        return cls(path, descriptor)

    @classmethod
    def reopen(cls, path: Path) -> tuple[Journal, int]:
        """Open to write on, and return how many bytes of an unfinished line were at the end.

        That line is ended, so that it stays in the file as a malformed line of its own. The caller
        holds the lock of the journal. Raises StorageFailed.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            unfinished = len(read_journal(path)[1])
            if unfinished:
                os.write(descriptor, b"\n")
        except OSError as error:
            raise _failed(path, error) from error
        return cls(path, descriptor), unfinished

    def append(self, line: bytes) -> None:
        """Write one line; the line itself holds no newline."""
        if self._descriptor is None or self.broken:
            return
        data = line + b"\n"
        try:
            written = os.write(self._descriptor, data)
        except OSError as error:
            self.broken = _reason(error)
            return
        self._dirty = True
        if written != len(data):
            self.broken = f"only {written} of {len(data)} bytes were written; the disk may be full"
            self._undo(written)

    def _undo(self, written: int) -> None:
        descriptor = self._descriptor
        if descriptor is None:
            return
        try:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
        except OSError as error:
            self.broken += f"; the rest stays in the file ({_reason(error)})"

    async def flush(self) -> None:
        """Return when all lines are on the disk, or `broken` says why they are not."""
        if not self._dirty or self._descriptor is None:
            return
        self._dirty = False
        try:
            await anyio.to_thread.run_sync(os.fsync, self._descriptor)
        except OSError as error:
            self.broken = self.broken or _reason(error)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def read_journal(path: Path, offset: int = 0) -> tuple[list[bytes], bytes, int]:
    """Return the whole lines from `offset` on, an unfinished last one, and where that begins.

    Raises OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    whole, newline, tail = data.rpartition(b"\n")
    lines = whole.split(b"\n") if newline else []
    return lines, tail, offset + len(data) - len(tail)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, for the owner alone. Raises StorageFailed."""
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise _failed(path, error) from error


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _failed(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        _reason(error),
        where=str(path),
        remedy="Free space, or choose another state folder with TRUEPENNY_HOME.",
    )
