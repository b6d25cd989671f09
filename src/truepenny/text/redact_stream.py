"""Redact a text that comes in pieces. The result does not depend on how it was cut.

Whole lines are redacted together; a line longer than the window is redacted window by window with
an overlap, so memory stays bounded. A secret cut by a piece's edge is found all the same.
"""

from __future__ import annotations

import re

from .known import KnownValues
from .redact_lines import Continuation, indent_of, key_column
from .scan import Hit, RuleSet, apply, settle

WINDOW = 65536
"""Characters of one line that are held; longer lines are cut into windows."""

OVERLAP = 8192
"""Characters at a window's end that are looked at again with the next one: more than any rule
needs before a secret's own text, and more than any form of a piece of a known value."""

CONTEXT = 160
"""Characters before a window that rules may look back on."""

MAX_PASSES = 8
"""Passes over a text in which something was masked; a second one finds next to nothing."""

_AFTER_SWALLOWED = "\u2026"
"""Stands before the text after a swallowed secret: neither a word nor the start of a line."""


class RedactStream:
    """`feed` returns what is certain so far, `finish` the rest. `counts` grows by rule name."""

    def __init__(self, rules: RuleSet, known: KnownValues) -> None:
        self.counts: dict[str, int] = {}
        self._rules = rules
        self._known = known
        self._parts: list[str] = []
        self._size = 0
        self._open: Continuation | None = None
        self._giant = False  # inside a line longer than the window
        self._giant_indent = 0
        self._context = ""
        self._swallow: re.Pattern[str] | None = None

    def feed(self, text: str) -> str:
        """Take the next piece."""
        self._parts.append(text)
        self._size += len(text)
        if self._size < WINDOW and "\n" not in text:
            return ""
        return self._drain(final=False)

    def finish(self) -> str:
        """Return the rest; the stream may not be fed afterwards."""
        text = self._drain(final=True)
        while self._open is not None:
            out: list[str] = []
            self._end(out)
            text += "".join(out)
        return text

    def _end(self, out: list[str]) -> None:
        """End the open secret. Lines that it held and that are none are looked at once more, and
        may open the next one."""
        ended, self._open = self._open, None
        if ended is None:
            return
        if released := ended.released:
            self._lines(released, out)
        else:
            out.append(self._steady(ended.close(self.counts)))

    def _drain(self, *, final: bool) -> str:
        text = self._parts[0] if len(self._parts) == 1 else "".join(self._parts)
        out: list[str] = []
        at, size = 0, len(text)
        while at < size:
            if self._swallow is not None:
                end = self._swallow.search(text, at)
                at = end.start() if end else size
                if end:
                    self._swallow = None
            elif self._giant:
                taken = self._take_giant(text, at, out, final=final)
                if taken == 0:
                    break
                at += taken
            else:
                end = text.rfind("\n", at, at + WINDOW) + 1
                if end == 0 and size - at >= WINDOW:
                    self._enter_giant(text[at : at + WINDOW], out)
                    continue
                if end == 0:
                    if not final:
                        break
                    end = size
                self._lines(text[at:end], out)
                at = end
        rest = text[at:]
        self._parts, self._size = ([rest], len(rest)) if rest else ([], 0)
        return "".join(out)

    def _lines(self, text: str, out: list[str]) -> None:
        """Redact whole lines (the last one may be the unfinished end of the text)."""
        while text:
            if self._open is not None:
                text = text[self._continue(text, 0, out) :]
            text = text[self._some_lines(text, out) :]

    def _some_lines(self, text: str, out: list[str]) -> int:
        """Redact lines up to the end, or to the end of a key block that ends inside a line."""
        at = 0
        hits = self._rules.scan(text, self._known)
        settled = settle(text, hits)
        for hit in hits:
            if not hit.opens or hit.start < at:
                continue
            line_end = text.find("\n", hit.end) + 1 or len(text)
            # Only what is the last thing on its line goes on over the next one.
            done = self._masked(text, settled, at, line_end)
            at = line_end
            line = text[text.rfind("\n", 0, hit.begin) + 1 : hit.begin]
            mapping = hit.opens in ("nested", "strings", "data")
            indent = key_column(line) if mapping else indent_of(line)
            self._open, done = _continuation(hit, indent, done)
            out.append(done)
            at = self._continue(text, at, out)
            if at < len(text) and text[at - 1] != "\n":
                return at  # the rest of that line is looked at as a line by itself
        out.append(self._masked(text, settled, at, len(text)))
        return len(text)

    def _masked(self, text: str, hits: list[Hit], begin: int, end: int) -> str:
        """Mask the hits, then what only shows once its neighbour is a mask, until none is left."""
        done = apply(text, hits, self.counts, begin, end)
        if not any(hit.start < end and hit.end > begin for hit in hits):
            return done
        return self._steady(done)

    def _steady(self, text: str) -> str:
        for _ in range(MAX_PASSES):
            hits = settle(text, self._rules.scan(text, self._known))
            if not hits:
                break
            text = apply(text, hits, self.counts, 0, len(text))
        return text

    def _continue(self, text: str, at: int, out: list[str]) -> int:
        """Give lines to the open secret until it ends; return where the text goes on."""
        while self._open is not None and at < len(text):
            end = text.find("\n", at) + 1 or len(text)
            replaced = self._open.take(text[at:end], self.counts)
            if replaced is None:
                self._end(out)
                continue
            # Names before a masked value, and what follows the end of a key block, count as well.
            out.append(self._steady(replaced))
            at = end if self._open.taken is None else at + self._open.taken
            if self._open.done:
                released, self._open = self._open.released, None
                if released:
                    self._lines(released, out)
        return at

    def _enter_giant(self, head: str, out: list[str]) -> None:
        self._giant = True
        self._giant_indent = indent_of(head)
        self._context = ""
        while self._open is not None and not self._open.covers(head):
            self._end(out)
        if self._open is not None:
            out.append(self._open.swallow(self.counts))
            self._swallow = _until("\n")
            if self._open.done:
                self._open = None

    def _take_giant(self, text: str, at: int, out: list[str], *, final: bool) -> int:
        """Redact the next window of a giant line; return how much was taken, 0 to wait."""
        newline = text.find("\n", at, at + WINDOW)
        if newline < 0 and len(text) - at < WINDOW and not final:
            return 0
        ends = newline >= 0 or len(text) - at < WINDOW
        window = text[at : newline + 1] if newline >= 0 else text[at : at + WINDOW]
        skip = len(self._context)
        whole = self._context + window
        hits = [hit for hit in self._rules.scan(whole, self._known) if hit.end > skip]
        settled = settle(whole, hits)
        cut, swallowed = (len(whole), None) if ends else _cut(whole, settled, skip)
        done = self._masked(whole, settled, skip, cut)
        if newline >= 0:
            self._giant = False
            opener = next((hit for hit in hits if hit.opens), None)
            if opener is not None and self._open is None:
                self._open, done = _continuation(opener, self._giant_indent, done)
        out.append(done)
        if swallowed is None:
            self._context = whole[max(0, cut - CONTEXT) : cut]
        else:
            self._swallow = _until(swallowed)
            self._context = _AFTER_SWALLOWED
        return cut - skip


def _cut(text: str, hits: list[Hit], skip: int) -> tuple[int, str | None]:
    """Choose where a window ends, never inside a hit.

    Earlier is always safe, since what is after the cut is looked at again. Where a hit is too long
    for that it is masked here; if its end is not in sight, the second value names the characters
    up to which the text must be swallowed.
    """
    cut = len(text) - OVERLAP
    for hit in reversed(hits):
        if hit.begin < cut < hit.end:
            cut = hit.begin
    if cut > skip + WINDOW // 2:
        return cut, None
    cut = len(text) - OVERLAP
    for hit in hits:
        if hit.begin < cut < hit.end:
            if hit.end == len(text):
                return hit.end, hit.until
            cut = hit.end
    return cut, None


def _continuation(hit: Hit, indent: int, line: str) -> tuple[Continuation, str]:
    """Open a secret; a key block is already masked and swallows the line break after its mask."""
    if hit.opens != "pem":
        return Continuation(hit.opens, hit.name, indent), line
    body = line.rstrip("\n")
    return Continuation("pem", hit.name, indent, masked=True, newline=line[len(body) :]), body


def _until(chars: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(chars)}]")
