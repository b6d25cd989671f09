"""Server-sent events, read from bytes as they come. Rules of the WHATWG HTML standard, 9.2.6.

Any chunking of a stream gives the same events. Lines may end in LF, CRLF or CR; comments and a
leading byte order mark are skipped. `id` and `retry` mean nothing to a model's answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from truepenny.errors import TruepennyError

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""One event holds at most one whole answer with its encrypted reasoning; ten times the largest
seen. A server that never ends a line must not eat the memory."""

MAX_STRAY = 8192
"""Bytes of a stray line that are kept: more than any error message has."""

_SILENT = (b":", b"id", b"retry", b"event")
_BOM = b"\xef\xbb\xbf"


class EventTooLarge(TruepennyError):
    """A line or an event grew over the limit; the stream cannot be read further."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: the `event` field (empty if none came) and the data, undecoded."""

    name: str
    data: bytes


class SseParser:
    """Feed bytes, get events. `max_event_bytes` bounds a line and an event's joined data.

    `stray` is the beginning of the first line that is no part of the format. The standard drops
    such lines; some servers write an error so.
    """

    __slots__ = ("_data", "_limit", "_name", "_size", "_skip_lf", "_started", "_tail", "stray")

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._tail = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self.stray = b""
        self._name = ""
        self._skip_lf = False
        self._started = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes, return the events they complete.

        Raises EventTooLarge; the parser is of no use afterwards.
        """
        if self._skip_lf:
            # The previous chunk ended in CR: an LF at the front belongs to that line's end.
            if not chunk:
                return []
            self._skip_lf = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if b"\n" not in chunk and b"\r" not in chunk:
            self._grow(chunk)
            return []
        lines = chunk.splitlines()
        if self._tail:
            self._tail += lines[0]
            lines[0] = bytes(self._tail)
            self._tail.clear()
        last = chunk[-1]
        if last == 0x0D:
            self._skip_lf = True
        rest = b"" if last in (0x0A, 0x0D) else lines.pop()
        events: list[SseEvent] = []
        for line in lines:
            self._line(line, events)
        if rest:
            self._grow(rest)
        return events

    def finish(self) -> list[SseEvent]:
        """Return what stands unfinished at the end of the stream, at most one event.

        The standard drops it; some servers leave out the blank line after their last event, so
        the caller decides by whether it can be read.
        """
        events: list[SseEvent] = []
        if self._tail:
            line = bytes(self._tail)
            self._tail.clear()
            self._line(line, events)
        self._line(b"", events)
        return events

    def _grow(self, piece: bytes) -> None:
        self._tail += piece
        if len(self._tail) > self._limit:
            raise EventTooLarge(f"a line of the event stream is over {self._limit} bytes")

    def _line(self, line: bytes, events: list[SseEvent]) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(_BOM)
        if line.startswith(b"data:"):
            value = line[6:] if line[5:6] == b" " else line[5:]
            self._add(value)
        elif not line:
            if self._data:
                data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                events.append(SseEvent(self._name, data))
                self._data = []
                self._size = 0
            self._name = ""
        elif line.startswith(b"event:"):
            self._name = line[6:].strip().decode("utf-8", "backslashreplace")
        elif line == b"data":
            self._add(b"")
        elif not self.stray and not line.startswith(_SILENT):
            self.stray = line[:MAX_STRAY]

    def _add(self, value: bytes) -> None:
        self._data.append(value)
        self._size += len(value) + 1
        if len(self._data) > 1 and self._size > self._limit:
            raise EventTooLarge(f"an event of the stream is over {self._limit} bytes")
