"""Finding some lines of a file by bounded reads, from its beginning or from its end."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .work import Stop

CHUNK = 256 * 1024
"""One read while counting."""

CONTEXT = 64 * 1024
"""Bytes before a window that the redactor is shown: a key block that began there is still one."""


@dataclass(frozen=True, slots=True)
class Window:
    """Where lines begin. `first` is the number of the first line, None where nobody counted.

    `start` is its byte; None: there is no such line among the counted ones. `total` counts all
    lines where all of the file was gone through; `counted` those that were.
    """

    first: int | None
    start: int | None
    total: int | None
    counted: int


def from_line(handle: int, size: int, line: int, scan: int, stop: Stop) -> Window:
    """Find the byte at which a line (1-based) begins, and count all lines of a file within `scan`.

    A larger file is gone through no further than to that line, and never beyond `scan` bytes.
    """
    whole = size <= scan
    at, lines, open_end = 0, 0, False
    start = 0 if line == 1 else None
    while at < scan and (start is None or whole):
        stop.check()
        data = os.pread(handle, min(CHUNK, scan - at), at)
        if not data:
            break
        newlines = data.count(b"\n")
        if start is None and lines + newlines >= line - 1:
            start = at + _after(data, line - 1 - lines)
        lines += newlines
        at += len(data)
        open_end = not data.endswith(b"\n")
    counted = lines + open_end
    if whole and line > 1 and start == at:
        start = None  # the last line break ends the last line; none begins after it
    return Window(line, start, counted if whole else None, counted)


def from_end(handle: int, size: int, lines: int, most: int, scan: int, stop: Stop) -> Window:
    """Find the byte at which the last `lines` lines begin, at most `most` bytes before the end."""
    floor = max(0, size - most)
    start = floor
    if floor:  # more than fits: from the first line that begins in there
        data = os.pread(handle, most, floor)
        first = data.find(b"\n") + 1
        start = floor + (first if 0 < first < len(data) else 0)
    wanted, at = lines, size
    if size and os.pread(handle, 1, size - 1) == b"\n":
        at = size - 1  # it ends the last line and begins none
    while at > floor:
        stop.check()
        begin = max(floor, at - CHUNK)
        data = os.pread(handle, at - begin, begin)
        found = data.count(b"\n")
        if found >= wanted:
            end = len(data)
            for _ in range(wanted):
                end = data.rindex(b"\n", 0, end)
            start = begin + end + 1
            break
        wanted -= found
        at = begin
    if size > scan:
        return Window(None, start, None, 0)
    total = from_line(handle, size, 1, scan, stop).counted
    behind = os.pread(handle, size - start, start)
    shown = behind.count(b"\n") + (bool(behind) and not behind.endswith(b"\n"))
    return Window(total - shown + 1, start, total, total)


def before(handle: int, start: int) -> bytes:
    """Return the whole lines before a window, as many as fit into `CONTEXT`."""
    floor = max(0, start - CONTEXT)
    data = os.pread(handle, start - floor, floor)
    return data if floor == 0 else data[data.find(b"\n") + 1 :]


def _after(data: bytes, newlines: int) -> int:
    """Return the offset behind that many line breaks, which are there."""
    at = 0
    for _ in range(newlines):
        at = data.index(b"\n", at) + 1
    return at
