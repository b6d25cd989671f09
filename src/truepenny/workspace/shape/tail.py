"""The end of a text that comes in pieces, in little memory."""

from __future__ import annotations

from truepenny.text.bound import utf8_length

TAIL_BYTES = 8 * 1024
"""Of each stream the result shows so much of its end (tools spec 2.11)."""


class Tail:
    """Keeps the end of a text that comes in pieces. `total` and `lines` count all of it."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self.total = 0
        self._most = most
        self._newlines = 0
        self._parts: list[str] = []
        self._held = 0

    def feed(self, text: str) -> None:
        """Take the next piece."""
        if not text:
            return
        self.total += utf8_length(text)
        self._newlines += text.count("\n")
        self._parts.append(text)
        self._held += len(text)
        if self._held > 4 * self._most:
            # A character has at least one byte: so many are always enough.
            self._parts = ["".join(self._parts)[-self._most :]]
            self._held = self._most

    @property
    def text(self) -> str:
        """The end, on whole lines where there are any."""
        whole = "".join(self._parts)
        if self.total <= self._most:
            return whole
        raw = whole[-self._most :].encode("utf-8", "surrogatepass")
        begin = max(0, len(raw) - self._most)
        while begin < len(raw) and raw[begin] & 0xC0 == 0x80:
            begin += 1
        end = raw[begin:].decode("utf-8", "surrogatepass")
        after = end.find("\n") + 1
        return end[after:] if 0 < after <= len(end) // 2 else end

    @property
    def lines(self) -> int:
        """All lines, the last one without a line break too."""
        return self._newlines + bool(self._parts and not self._parts[-1].endswith("\n"))
