"""A file of records, one per line, that only grows; a record is written by one system call.

A crash can leave the last record unfinished. Reading tells it apart from a whole one, and the next
writer ends it with a line break first, so that it never runs into a good record.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from truepenny.errors import StorageFailed

from .atomic import PRIVATE, storage_failed, sync_directory


@dataclass(frozen=True, slots=True)
class Record:
    """One line without its line break; `offset` is in bytes from the start of the file."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Records:
    """The whole records of a file, and the unfinished one at its end, if any."""

    records: tuple[Record, ...]
    torn: Record | None = None


def read_records(path: Path) -> Records:
    """Read all records. Raises FileNotFoundError, or StorageFailed where reading fails."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise storage_failed(error, path, "Reading") from error
    records: list[Record] = []
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        records.append(Record(at, data[at:end]))
        at = end + 1
    torn = Record(at, data[at:]) if at < len(data) else None
    return Records(tuple(records), torn)


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
            self.sealed = _torn_length(self._handle)
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
            written = os.write(self._handle, line)
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


_BLOCK = 65536  # bytes read at once while looking backwards for a line break


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
