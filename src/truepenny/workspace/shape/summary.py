"""The lines of a long output that say most: its first, its last, and what looks like an error.

Looking like an error is a guess from words, good for choosing lines and for nothing else: what a
run came to is never read from its output (spec/field.md B1, 7).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from truepenny.execute.process import Stream
from truepenny.text.bound import utf8_length

FIRST_LINES = 4
LAST_LINES = 6
LINE_BYTES = 768
"""The three numbers of tools spec 2.4."""

ERROR_LINES = 8
"""With the first and the last ones, all at their longest, they still fit one result."""

_ERROR = re.compile(
    r"\b(?:error|err|fail(?:ed|ure|s)?|fatal|panic(?:ked)?|exception|traceback|denied|refused"
    r"|cannot|can't|could not|not found|no such|undefined|unresolved|segmentation fault|killed"
    r"|abort(?:ed)?|timed out|assert(?:ion)?)\b|Error\b|Exception\b",
    re.IGNORECASE,
)


_STEMS = (
    *("err", "fail", "fatal", "panic", "exception", "traceback", "denied", "refused", "cannot"),
    *("can't", "could not", "not found", "no such", "undefined", "unresolved", "fault", "killed"),
    *("abort", "timed out", "assert"),
)
"""What every match of the expression has in it: text without any of them needs no look."""

_MANY = 4 * LAST_LINES
"""Lines in one piece from which it is worth to ask for the stems first."""


def _may_err(text: str) -> bool:
    lowered = text.lower()
    return any(stem in lowered for stem in _STEMS)


@dataclass(slots=True)
class _Open:
    """A line that has not ended yet; no more of its text is held than may be shown."""

    parts: list[str] = field(default_factory=list[str])
    held: int = 0
    bytes: int = 0

    def add(self, text: str) -> None:
        self.bytes += utf8_length(text)
        if self.held <= LINE_BYTES:
            # One character more than may be shown, so that the cut is seen.
            part = text[: LINE_BYTES + 1 - self.held]
            self.parts.append(part)
            self.held += len(part)


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    stream: Stream
    text: str
    bytes: int

    def shown(self) -> tuple[str, int]:
        """Return the line within its limit, and how many bytes of the output are in it."""
        mark = "stderr: " if self.stream == "stderr" else ""
        if self.bytes + len(mark) <= LINE_BYTES:
            return f"{mark}{self.text}", self.bytes
        room = LINE_BYTES - len(mark) - len(f" [+{self.bytes} bytes]")
        text = self.text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")
        kept = utf8_length(text)
        return f"{mark}{text} [+{self.bytes - kept} bytes]", kept


@dataclass(frozen=True, slots=True)
class Picked:
    """The chosen lines with marks where others are missing. `kept` counts bytes of the output."""

    text: str
    kept: int
    shown_lines: int
    total_lines: int
    error_lines: int
    """Lines that looked like errors, shown or not."""
    cut: bool


class Summary:
    """Takes both streams in pieces; a line belongs where it ended. Memory does not grow."""

    def __init__(self) -> None:
        self._open: dict[Stream, _Open] = {"stdout": _Open(), "stderr": _Open()}
        self._count = 0
        self._errors = 0
        self._first: list[_Line] = []
        self._erring: list[_Line] = []
        self._last: deque[_Line] = deque(maxlen=LAST_LINES)

    def feed(self, stream: Stream, text: str) -> None:
        """Take the next piece of a stream."""
        *ended, rest = text.split("\n")
        if len(self._first) == FIRST_LINES and len(ended) > _MANY and not _may_err(text):
            # The begun line first; of the others only the last ones can be chosen.
            self._open[stream].add(ended[0])
            self._end(stream)
            at, wanted = len(ended), LAST_LINES
            while at > 1 and wanted:
                at -= 1
                wanted -= bool(ended[at].strip())
            self._count += at - 1
            ended = ended[at:]
        for line in ended:
            self._open[stream].add(line)
            self._end(stream)
        if rest:
            self._open[stream].add(rest)

    def finish(self) -> Picked:
        """Return what was chosen; call it once."""
        for stream, line in self._open.items():
            if line.bytes:
                self._end(stream)
        chosen = {line.number: line for line in (*self._first, *self._erring, *self._last)}
        lines, kept, whole = list[str](), 0, 0
        for line in self._with_gaps(sorted(chosen)):
            if isinstance(line, str):
                lines.append(line)
                continue
            text, bytes_kept = chosen[line].shown()
            lines.append(text)
            kept += bytes_kept + 1
            whole += bytes_kept == chosen[line].bytes
        unshown = self._errors - sum(bool(_ERROR.search(line.text)) for line in chosen.values())
        if unshown > 0:
            lines.append(f"[{unshown} more lines look like errors]")
        text = "".join(f"{line}\n" for line in lines)
        return Picked(text, kept, whole, self._count, self._errors, whole < self._count)

    def _with_gaps(self, numbers: list[int]) -> Iterator[int | str]:
        before = 0
        for number in [*numbers, self._count + 1]:
            if missing := number - before - 1:
                yield f"[... {missing} line{'s' * (missing > 1)} left out ...]"
            if number <= self._count:
                yield number
            before = number

    def _end(self, stream: Stream) -> None:
        opened = self._open[stream]
        self._open[stream] = _Open()
        self._count += 1
        text = "".join(opened.parts)
        line = _Line(self._count, stream, text, opened.bytes)
        looks = bool(_ERROR.search(text))
        self._errors += looks
        if not text.strip():
            return
        if len(self._first) < FIRST_LINES:
            self._first.append(line)
        elif looks and len(self._erring) < ERROR_LINES:
            self._erring.append(line)
        self._last.append(line)
