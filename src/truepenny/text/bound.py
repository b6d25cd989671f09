"""Keep the head and the tail of a text within a budget, and say how much is missing between.

`bound` and `HeadTail` give the same answer; `HeadTail` takes the text in pieces and holds about
three times the budget, however much comes. A character is never split, whole lines are preferred,
and the marker line counts as part of the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD_SHARE = 0.4
"""Part of the room that the head gets. The end of an output usually says how it ended."""

WHOLE_LINE_SHARE = 0.5
"""A side is cut back to a whole line unless that would waste more than this share of it; then one
line is very long and is cut inside."""


_SLACK = 4096
"""Characters (or lines) that may pile up beyond twice the budget before the tail is trimmed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be kept, the marker included. None sets no limit; 0 keeps nothing."""

    bytes: int | None = None
    chars: int | None = None
    lines: int | None = None

    def __post_init__(self) -> None:
        if any(n is not None and n < 0 for n in (self.bytes, self.chars, self.lines)):
            raise ValueError("a limit is zero or more, or None for no limit")


@dataclass(frozen=True, slots=True)
class Bounded:
    """The bounded text and exact counts of the original's share in it (the marker not counted).

    Bytes are those of UTF-8. A line is text up to and with `\\n`, or a rest without one;
    `kept_lines` counts lines that are shown whole.
    """

    text: str
    kept_bytes: int
    total_bytes: int
    kept_lines: int
    total_lines: int
    total_chars: int
    kept_chars: int
    cut: bool


def bound(text: str, limits: Limits) -> Bounded:
    """Bound a whole text."""
    keeper = HeadTail(limits)
    keeper.feed(text)
    return keeper.finish()


def utf8_length(text: str) -> int:
    """Return the number of bytes of the UTF-8 form; a lone surrogate counts 3."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class HeadTail:
    """Takes a text in pieces and keeps its head and tail."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._bytes = self._chars = self._newlines = 0
        self._ends_open = False
        self._over = False
        self._head: list[str] = []
        self._tail: list[str] = []
        self._tail_size = 0  # characters, or newlines where only lines are limited

    def feed(self, text: str) -> None:
        """Take the next piece."""
        if not text:
            return
        self._bytes += utf8_length(text)
        self._chars += len(text)
        self._newlines += text.count("\n")
        self._ends_open = not text.endswith("\n")
        if self._over:
            self._keep_tail(text)
            return
        self._head.append(text)
        if self._exceeds():
            self._over = True
            whole = "".join(self._head)
            self._head = [_prefix(whole, self._limits)]
            self._keep_tail(whole)

    def finish(self, within: Limits | None = None) -> Bounded:
        """Return the bounded text; call it once, at the end.

        `within` is a tighter bound that was not known before, in the same units: the answer is
        the one that it would have given from the start.
        """
        if within is not None:
            if not self._over:
                return bound("".join(self._head), within)
            self._limits = within
        lines = self._newlines + self._ends_open
        if not self._over:
            text = "".join(self._head)
            return Bounded(
                text, self._bytes, self._bytes, lines, lines, self._chars, self._chars, False
            )
        for template in _MARKERS:
            result = self._cut(template, lines)
            if result is not None:
                return result
        return Bounded("", 0, self._bytes, 0, lines, self._chars, 0, True)

    def _exceeds(self) -> bool:
        limit = self._limits
        lines = self._newlines + self._ends_open
        return (
            (limit.bytes is not None and self._bytes > limit.bytes)
            or (limit.chars is not None and self._chars > limit.chars)
            or (limit.lines is not None and lines > limit.lines)
        )

    def _keep_tail(self, text: str) -> None:
        """Add to the tail and drop what can no longer be in it, seldom enough to stay linear."""
        self._tail.append(text)
        sizes = [n for n in (self._limits.bytes, self._limits.chars) if n is not None]
        if sizes:
            most = min(sizes)
            self._tail_size += len(text)
            if self._tail_size > 2 * most + _SLACK:
                whole = "".join(self._tail)
                self._tail = [whole[len(whole) - most :]]
                self._tail_size = most
        elif self._limits.lines is not None:
            self._tail_size += text.count("\n")
            if self._tail_size > 2 * self._limits.lines + _SLACK:
                whole = "".join(self._tail)
                self._tail = [whole[_suffix_start_by_lines(whole, self._limits.lines) :]]
                self._tail_size = self._tail[0].count("\n")

    def _cut(self, template: str, lines: int) -> Bounded | None:
        # The marker is longest when everything is missing; that much room, and the line break
        # on either side of it, is set aside.
        widest = template.format(bytes=self._bytes, lines=lines)
        room = _minus(self._limits, len(widest) + 2, 1)
        if room is None:
            return None
        head_room, tail_room = _share(room)
        head = _back_to_line(_prefix("".join(self._head), head_room))
        source = "".join(self._tail)
        tail = source[_on_to_line(source, _suffix_start(source, tail_room)) :]
        kept_bytes = utf8_length(head) + utf8_length(tail)
        kept_lines = _whole_lines(head, tail, source)
        marker = template.format(bytes=self._bytes - kept_bytes, lines=lines - kept_lines)
        # A head that ends inside a line must not run into the marker.
        joint = "\n" if head and not head.endswith("\n") else ""
        return Bounded(
            f"{head}{joint}{marker}\n{tail}",
            kept_bytes,
            self._bytes,
            kept_lines,
            lines,
            self._chars,
            len(head) + len(tail),
            True,
        )


_MARKERS = (
    "[... {bytes} bytes missing here; {lines} lines not shown whole ...]",
    "[cut {bytes} bytes]",
    "[cut]",
)
"""From the one that says everything to the one that fits a tiny budget."""


def _minus(limits: Limits, size: int, lines: int) -> Limits | None:
    """Return the limits with some room taken away, None where there is not that much."""

    def less(limit: int | None, taken: int) -> int | None:
        return None if limit is None else limit - taken

    left = (less(limits.bytes, size), less(limits.chars, size), less(limits.lines, lines))
    return None if any(n is not None and n < 0 for n in left) else Limits(*left)


def _share(room: Limits) -> tuple[Limits, Limits]:
    def head(limit: int | None) -> int | None:
        return None if limit is None else int(limit * HEAD_SHARE)

    def tail(limit: int | None) -> int | None:
        return None if limit is None else limit - int(limit * HEAD_SHARE)

    return (
        Limits(head(room.bytes), head(room.chars), head(room.lines)),
        Limits(tail(room.bytes), tail(room.chars), tail(room.lines)),
    )


def _prefix(text: str, limits: Limits) -> str:
    """Return the longest beginning within all limits."""
    if limits.chars is not None:
        text = text[: limits.chars]
    if limits.bytes is not None:
        text = text[: limits.bytes]  # a character has at least one byte
        if not text.isascii():
            raw = text.encode("utf-8", "surrogatepass")
            end = limits.bytes
            while 0 < end < len(raw) and raw[end] & 0xC0 == 0x80:
                end -= 1
            text = raw[:end].decode("utf-8", "surrogatepass")
    if limits.lines is not None:
        end = 0
        for _ in range(limits.lines):
            found = text.find("\n", end)
            if found < 0:
                return text
            end = found + 1
        text = text[:end]
    return text


def _suffix_start(text: str, limits: Limits) -> int:
    """Return where the longest end within all limits begins."""
    start = 0
    if limits.chars is not None:
        start = max(start, len(text) - limits.chars)
    if limits.bytes is not None:
        start = max(start, len(text) - limits.bytes)
        if not text.isascii():
            raw = text[start:].encode("utf-8", "surrogatepass")
            begin = max(0, len(raw) - limits.bytes)
            while begin < len(raw) and raw[begin] & 0xC0 == 0x80:
                begin += 1
            start = len(text) - len(raw[begin:].decode("utf-8", "surrogatepass"))
    if limits.lines is not None:
        start = max(start, _suffix_start_by_lines(text, limits.lines))
    return start


def _suffix_start_by_lines(text: str, lines: int) -> int:
    start = len(text)
    for _ in range(lines):
        if start == 0:
            break
        # The newline just before `start` ends the line that is being added.
        start = text.rfind("\n", 0, start - 1) + 1
    return start


def _back_to_line(head: str) -> str:
    end = head.rfind("\n") + 1
    return head[:end] if end >= len(head) * (1 - WHOLE_LINE_SHARE) else head


def _on_to_line(text: str, start: int) -> int:
    # The marker's room makes `start` positive, so the character before it is always here.
    if start == len(text) or text[start - 1] == "\n":
        return start
    after = text.find("\n", start) + 1
    return after if 0 < after <= start + (len(text) - start) * WHOLE_LINE_SHARE else start


def _whole_lines(head: str, tail: str, source: str) -> int:
    """Count the lines shown whole; `source` ends with `tail` and tells what stood before it."""
    count = head.count("\n") + tail.count("\n") + bool(tail and not tail.endswith("\n"))
    begun_before = tail and source[len(source) - len(tail) - 1] != "\n"
    return count - 1 if begun_before else count
