"""A file of records, one per line, that only grows; a record is written by one system call.

A crash can leave the last record unfinished. Reading tells it apart from a whole one, and the next
writer ends it with a line break first, so that it never runs into a good record.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from truepenny.errors import StorageFailed

from .atomic import PRIVATE, storage_failed, sync_directory

_BLOCK = 65536  # bytes read at once while looking for a line break

LONGEST_RECORD = 32 * 1024 * 1024
"""Bytes of one record that a reader holds: far above any that is written, far below a machine's
memory. A longer line is somebody else's, and only measured."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line without its line break; `offset` is in bytes from the start of the file.

    `data` is None for a line that is longer than the longest record.
    """

    offset: int
    data: bytes | None


class RecordReader:
    """The whole records of a file from an offset on, one at a time; iterate it once, to the end.

    Then `end` is the offset after the last whole record, and `torn` how many bytes of an unfinished
    one follow. Raises StorageFailed where reading fails.
    """

    def __init__(self, path: Path, file: BinaryIO, offset: int) -> None:
        self.end = offset
        self.torn = 0
        self._path, self._file = path, file

    def __iter__(self) -> Iterator[Record]:
        try:
            with self._file as file:
                file.seek(self.end)
                while line := file.readline(LONGEST_RECORD + 1):
                    size = len(line)
                    while not line.endswith(b"\n") and (rest := file.readline(_BLOCK)):
                        size += len(rest)
                        line = rest
                    if not line.endswith(b"\n"):
                        self.torn = size
                        return
                    yield Record(self.end, line[:-1] if len(line) == size else None)
                    self.end += size
        except OSError as error:
            raise storage_failed(error, self._path, "Reading") from error


def read_records(path: Path, offset: int = 0) -> RecordReader:
    """Open a file of records. Raises FileNotFoundError, or StorageFailed where it cannot be read.

    A link, a pipe or a directory is refused: whoever put it there wants us to read something else,
    or to wait for ever.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_regular(path) from error
        raise storage_failed(error, path, "Reading") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_regular(path)
    return RecordReader(path, os.fdopen(handle, "rb"), offset)


def _not_regular(path: Path) -> StorageFailed:
    return StorageFailed(
        "it is a link, a pipe or a directory where a file should be; it was not read",
        where=str(path),
        remedy="Find out who put it there, then move it away.",
    )


class AppendFile:
    """A file open for appending; several processes may append to one file on a local disk.

    `sealed` is how many bytes of an unfinished record were found at opening. With `durable` each
    record is synced before `append` returns. Raises StorageFailed where it cannot be opened.
    """

    def __init__(self, path: Path, *, durable: bool = False, mode: int = PRIVATE) -> None:
        self.path = path
        self.sealed = 0
        self._durable = durable
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._handle = os.open(path, flags, mode)
        except OSError as error:
            raise storage_failed(error, path, "Opening") from error
        try:
            # Against a writer whose record is half visible: it would look torn.
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            self.sealed = _torn_length(self._handle)
            fcntl.flock(self._handle, fcntl.LOCK_UN)
            if durable:
                sync_directory(path.parent)
        except OSError as error:
            os.close(self._handle)
            raise storage_failed(error, path, "Reading") from error
        self._broken = self.sealed > 0

    def append(self, record: bytes) -> None:
        """Write one record and its line break. Raises StorageFailed if not all of it was written.

        Raises ValueError for a record with a line break in it.
        """
        if b"\n" in record:
            raise ValueError("a record is one line")
        line = b"\n" * self._broken + record + b"\n"
        try:
            fcntl.flock(self._handle, fcntl.LOCK_SH)
            try:
                written = os.write(self._handle, line)
            finally:
                fcntl.flock(self._handle, fcntl.LOCK_UN)
        except OSError as error:
            raise storage_failed(error, self.path, "Appending") from error
        if written != len(line):
            self._broken = True
            raise StorageFailed(
                f"only {written} of {len(line)} bytes were written",
                where=str(self.path),
                remedy="Free some space on this file system and try again.",
            )
        self._broken = False
        if self._durable:
            self.sync()

    def sync(self) -> None:
        """Return once all records are on the disk. Raises StorageFailed."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise storage_failed(error, self.path, "Syncing") from error

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> AppendFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _torn_length(handle: int) -> int:
    size = os.fstat(handle).st_size
    begin = size
    while begin > 0:
        start = max(0, begin - _BLOCK)
        found = os.pread(handle, begin - start, start).rfind(b"\n")
        if found >= 0:
            return size - (start + found + 1)
        begin = start
    return size
