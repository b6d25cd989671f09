"""The output file of one background run: written by us alone, line by line, up to a cap.

Both streams go in as they come, each line whole, so that a line of one never stands inside a line
of the other. What comes in is decoded, stripped of control sequences and redacted already.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from truepenny.system.atomic import PRIVATE

OUTPUT_BYTES = 64 * 1024 * 1024
"""The most one run leaves on the disk; it runs on beyond that and the rest is counted."""

LINE_CHARS = 64 * 1024
"""A begun line is held back for its end up to here, then written as it is."""

READ_BYTES = 64 * 1024
"""The most one read returns."""

TAIL_BYTES = 256 * 1024
"""How far back a tail looks for its lines."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A part of an output file. `text` holds the bytes from `offset` up to `next`, whole
    characters; `size` is the length of the file now. `cut` counts bytes that came after the cap
    (or a full disk, `problem`) and are nowhere. `begun` says that more may still come."""

    text: str
    offset: int
    next: int
    size: int
    cut: int = 0
    problem: str = ""
    begun: bool = False


class OutputFile:
    """Being written. Raises OSError where it cannot be made; a full disk is a fact later on."""

    def __init__(self, path: Path, limit: int = OUTPUT_BYTES) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.path = path
        self.size = 0
        self.cut = 0
        self.problem = ""
        self._limit = limit
        self._begun: dict[str, str] = {}
        self._handle = os.open(path, flags, PRIVATE)
        found = os.fstat(self._handle)
        self._identity = found.st_dev, found.st_ino

    def feed(self, stream: str, text: str) -> None:
        """Take text of a stream; its whole lines are written, the rest waits for more."""
        text = self._begun.pop(stream, "") + text
        end = text.rfind("\n") + 1
        if len(text) - end > LINE_CHARS:
            end = len(text)
        self._write(text[:end])
        if end < len(text):
            self._begun[stream] = text[end:]

    def intact(self) -> bool:
        """Whether the file at its path is the one that was written, and as long as that. Raises
        OSError where there is none."""
        found = os.lstat(self.path)
        return (found.st_dev, found.st_ino, found.st_size) == (*self._identity, self.size)

    def close(self) -> None:
        """Write what waits and close; safe to call again."""
        if self._handle < 0:
            return
        for text in self._begun.values():
            self._write(text)
        self._begun.clear()
        os.close(self._handle)
        self._handle = -1

    def _write(self, text: str) -> None:
        if not text:
            return
        data = text.encode("utf-8", "backslashreplace")
        if self.cut or self.problem:
            self.cut += len(data)
            return
        room = self._limit - self.size
        if len(data) > room:
            kept = data[:room].decode("utf-8", "ignore").encode()
            self.cut += len(data) - len(kept)
            data = kept
        done, view = 0, memoryview(data)
        try:
            while done < len(data):
                done += os.write(self._handle, view[done:])
        except OSError as error:
            self.problem = os.strerror(error.errno) if error.errno else str(error)
            self.cut += len(data)
            # A part of a character at the end would never be read: who reads on would not end.
            done = len(data[:done].decode("utf-8", "ignore").encode())
            self.cut -= done
            with suppress(OSError):
                os.ftruncate(self._handle, self.size + done)
        self.size += done


def read_part(path: Path, offset: int, limit: int = READ_BYTES) -> tuple[str, int, int]:
    """Return text from `offset`, where it ends, and the size of the file.

    Never more than `limit` bytes, never a part of a character: one that begins before `offset` is
    left out, one that does not fit is left for the next read. Raises OSError.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        size = os.fstat(handle).st_size
        offset = max(0, min(offset, size))
        data = os.pread(handle, max(4, min(limit, READ_BYTES)), offset)
    finally:
        os.close(handle)
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    end = len(data)
    # A character of at most 4 bytes that the end of the part cuts.
    for back in range(1, min(4, end) + 1):
        byte = data[end - back]
        if byte & 0xC0 != 0x80:
            wanted = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            if wanted > back:
                end -= back
            break
    return data[start:end].decode("utf-8", "backslashreplace"), offset + end, size


def read_tail(path: Path, lines: int) -> tuple[str, int, int]:
    """Return the last lines, where they begin, and the size; at most `TAIL_BYTES`. Raises OSError.

    A first line that began before that is left out, unless it is all there is.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        size = os.fstat(handle).st_size
        start = max(0, size - TAIL_BYTES)
        data = os.pread(handle, size - start, start)
    finally:
        os.close(handle)
    whole = len(data) - data.endswith(b"\n")
    at = whole
    for _ in range(max(lines, 0)):
        at = data.rfind(b"\n", 0, at)
        if at < 0:
            break
    begin = at + 1 if lines > 0 else len(data)
    if at < 0 and start > 0:
        newline = data.find(b"\n")
        begin = newline + 1 if 0 <= newline < whole else 0
    while begin < len(data) and data[begin] & 0xC0 == 0x80:
        begin += 1
    return data[begin:].decode("utf-8", "backslashreplace"), start + begin, start + len(data)
