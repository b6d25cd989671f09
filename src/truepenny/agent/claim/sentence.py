"""Where the sentences of an answer in Markdown begin and end: the one splitter.

A sentence ends at `.`, `!` or `?` before a space, and at the end of a line. Code spans, fenced
blocks and double quotes are never split. Citations that follow the full stop belong to the sentence
before them. A nested list item without a citation of its own inherits that of the item above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

QUOTED = re.compile(
    r"```.*?(?:```|\Z)"  # fenced, also when it never closes
    r"|`[^`\n]*`"
    r'|"[^"\n]*"'
    r"|“[^”\n]*”",
    re.DOTALL,
)
QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)

_END = re.compile(r"[.!?][*_)\]]*(?=\s|$)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|resp|no|ca)|^\s*\d+)\.$", re.I)
_CLAUSE = re.compile(r"[.!?:;]\s|\n")
_TRAILING_CITES = re.compile(r"(?:[ \t*_]*\[[A-Za-z0-9_.:, -]{1,200}\])+[.*_]*")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+(?P<hash>.+?)[ \t#]*|\*\*(?P<bold>[^*\n]{1,80})\*\*:?)$"
)

_ASSERTS = re.compile(r"[0-9`/]|[a-z][A-Z]|[A-Z]{3}")
"""A title with a number, a code span or a reason in it says something, and is checked."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` is `answer[start:end]`.

    `heading` is the heading above it, in lower case. `above` is the list item that it stands under,
    "" for none; its citations hold for this one where this one has none.
    """

    text: str
    start: int
    end: int
    heading: str = ""
    above: str = ""


def last_clause(before: str) -> str:
    """Return what stands in the same clause before the end of `before`."""
    return _CLAUSE.split(before)[-1]


def first_clause(after: str) -> str:
    """Return what stands in the same clause from the beginning of `after`."""
    return _CLAUSE.split(after, maxsplit=1)[0]


def sentences(answer: str) -> Iterator[Sentence]:
    """Yield the sentences in order; headings, blank lines and fenced blocks are none."""
    closed = list(answer)
    for match in QUOTED.finditer(answer):
        for place in range(match.start() + 1, match.end()):
            closed[place] = "q"
    shape = "".join(closed)
    heading = ""
    items: list[tuple[int, str]] = []
    at = 0
    for line in shape.split("\n"):
        start, end = at, at + len(line)
        at = end + 1
        real = answer[start:end]
        if not line.strip():
            continue
        if found := _HEADING.fullmatch(real):
            title = found["hash"] or found["bold"]
            if not title.rstrip().endswith((".", "!", "?")) and not _ASSERTS.search(title):
                heading, items = title.strip(" *:").lower(), []
                continue
        if real.lstrip().startswith("```"):
            continue
        item = _ITEM.match(line)
        above = ""
        if item:
            indent = len(item["indent"].expandtabs(4))
            while items and items[-1][0] >= indent:
                items.pop()
            above = items[-1][1] if items else ""
            items.append((indent, real))
            start += item.end()
        elif line[:1] not in " \t":
            items = []
        for first, last in _spans(shape, start, end):
            text = answer[first:last]
            if any(letter.isalnum() for letter in text):
                yield Sentence(text, first, last, heading, above)


def _spans(shape: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(shape, start, end):
        stop = match.end()
        if stop <= begin or _ABBREVIATION.search(shape[begin : match.start() + 1]):
            continue
        cites = _TRAILING_CITES.match(shape, stop, end)
        stop = cites.end() if cites else stop
        yield _trim(shape, begin, stop)
        begin = stop
    if shape[begin:end].strip():
        yield _trim(shape, begin, end)


def _trim(shape: str, start: int, end: int) -> tuple[int, int]:
    while start < end and shape[start].isspace():
        start += 1
    while end > start and shape[end - 1].isspace():
        end -= 1
    return start, end
