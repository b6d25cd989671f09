"""Finding the one place that an edit means: exactly, else by what looks the same to a reader.

The second way folds what editors and models confuse: Unicode compatibility forms (NFKC), quotes,
dashes, and blanks at line ends. It never ignores indentation, which has a meaning, and it never
guesses between two places (assistant spec 2.8, tools spec 2.3, spec/field.md B11).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from .diff import comparable

FOLDED_BYTES = 1024 * 1024
"""Larger texts are only matched exactly (tools spec 2.3): folding goes by character."""

HINT_LINES = 100
"""Lines of a text that is looked for without its indentation."""

MOST_PLACES = 1000
"""Places that are counted; beyond, the count is a lower bound."""

_FOLDS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u00a0": " ",
    }
)
# Never going back, and only from the first blank on: a long run of blanks is passed once.
_LINE_END = re.compile(r"(?<![ \t])[ \t]++(?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `stop` of a text, and how they were found: `exact` or `folded`."""

    start: int
    stop: int
    kind: str


def find_spans(text: str, old: str) -> list[Span]:
    """Return every place of `old`, by the first way that finds one, in order."""
    exact = [Span(at, at + len(old), "exact") for at in _places(text, old)]
    if exact or len(text) > FOLDED_BYTES:
        return exact
    wanted = _Folded(old).text
    if not wanted.strip():
        return []  # blanks alone are everywhere
    folded = _Folded(text)
    places = _places(folded.text, wanted)
    if old[-1] in " \t":  # left out of `wanted`: only right where a line ends there
        places = [at for at in places if folded.text[at + len(wanted) :][:1] in ("", "\n")]
    found = (folded.span(at, at + len(wanted)) for at in places)
    return [span for span in found if span is not None]


def spliced(raw: str, old: str, new: str) -> str:
    """Return `new` with the lines that the edit does not change as they stand in `raw`.

    `raw` is what was found for `old` by folding: line by line the same to a reader, so a line
    that `old` and `new` share keeps its own quotes and blanks.
    """
    there, before, after = raw.split("\n"), old.split("\n"), new.split("\n")
    if len(there) != len(before) or not comparable(before, after):
        return new
    out: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        out += there[i1:i2] if tag == "equal" else after[j1:j2]
    return "\n".join(out)


def without_indentation(text: str, old: str) -> int | None:
    """Return the line (from 1) where `old` would be but for indentation, if there is one.

    Only a hint hangs on it: large texts are not looked through.
    """
    lines, wanted = [line.strip() for line in text.split("\n")], old.strip("\n").split("\n")
    stripped = [line.strip() for line in wanted]
    if not any(stripped) or len(text) > FOLDED_BYTES or len(wanted) > HINT_LINES:
        return None
    for at in range(len(lines) - len(stripped) + 1):
        if lines[at] == stripped[0] and lines[at : at + len(stripped)] == stripped:
            return at + 1
    return None


def _places(text: str, old: str) -> list[int]:
    """Return where `old` begins, overlapping places too: they are ambiguous as well."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0 and len(found) < MOST_PLACES:
        found.append(at)
        at = text.find(old, at + 1)
    return found


class _Folded:
    """A text as a reader sees it, with the way back for each of its characters."""

    def __init__(self, text: str) -> None:
        blanks = [match.span() for match in _LINE_END.finditer(text)]
        out: list[str] = []
        self._starts: list[int] = []
        self._stops: list[int] = []
        self._heads: list[bool] = []
        self._tails: list[bool] = []
        for start, stop in _clusters(text, blanks):
            seen = unicodedata.normalize("NFKC", text[start:stop]).translate(_FOLDS)
            out.append(seen)
            for index in range(len(seen)):
                self._starts.append(start)
                self._stops.append(stop)
                self._heads.append(index == 0)
                self._tails.append(index == len(seen) - 1)
        self.text = "".join(out)

    def span(self, start: int, stop: int) -> Span | None:
        """Return the original span, None where it would begin or end inside a character."""
        if not (self._heads[start] and self._tails[stop - 1]):
            return None
        return Span(self._starts[start], self._stops[stop - 1], "folded")


def _clusters(text: str, blanks: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield each character with the combining ones after it; blanks at line ends are left out."""
    at, size, skips = 0, len(text), iter(blanks)
    skip = next(skips, (size, size))
    while at < size:
        if at == skip[0]:
            at = skip[1]
            skip = next(skips, (size, size))
            continue
        stop = at + 1
        while stop < size and text[stop] > "\u02ff" and unicodedata.combining(text[stop]):
            stop += 1
        yield at, stop
        at = stop
