"""Brace expansion as bash does it, for the part of it that is plain: commas, and ranges of numbers.

It comes before every other expansion, so what rules must judge is its result.
"""

from __future__ import annotations

import itertools
import re

from .reader import word_of
from .word import Piece, Word

MAX_WORDS = 64
"""More words than this from one are refused, not judged."""

_RANGE = re.compile(r"([0-9]|[1-9][0-9]{1,3})\.\.([0-9]|[1-9][0-9]{1,3})")

_Mark = tuple[str, bool]
"""A character and whether it is quoted. A parameter is one mark with a longer text."""


def expand(word: Word) -> tuple[Word, ...] | None:
    """Return the words that bash makes of one, or None where that is beyond this function."""
    marks: list[_Mark] = []
    for piece in word.pieces:
        if piece.parameter:
            return None
        if piece.quoted and not piece.text:
            marks.append(("", True))
        marks += [(char, piece.quoted) for char in piece.text]
    results = _expand(marks, depth=0)
    if results is None:
        return None
    return tuple(_rebuilt(result, word) for result in results)


def _rebuilt(marks: list[_Mark], word: Word) -> Word:
    pieces: list[Piece] = []
    for char, quoted in marks:
        if pieces and pieces[-1].quoted == quoted:
            pieces[-1] = Piece(pieces[-1].text + char, quoted)
        else:
            pieces.append(Piece(char, quoted))
    return word_of(word.raw, tuple(pieces), word.start)


def _expand(marks: list[_Mark], depth: int) -> list[list[_Mark]] | None:
    if depth > 4:
        return None
    start = next((at for at, mark in enumerate(marks) if mark == ("{", False)), None)
    if start is None:
        return [marks]
    level, commas, end = 0, [start], -1
    for at in range(start, len(marks)):
        char, quoted = marks[at]
        if quoted:
            continue
        if char == "{":
            level += 1
        elif char == "}":
            level -= 1
            if level == 0:
                end = at
                break
        elif char == "," and level == 1:
            commas.append(at)
    if end < 0:
        return None
    inner = marks[start + 1 : end]
    if len(commas) > 1:
        bounds = [*commas, end]
        choices: list[list[_Mark]] = []
        for left, right in itertools.pairwise(bounds):
            found = _expand(marks[left + 1 : right], depth + 1)
            if found is None:
                return None
            choices += found
    else:
        text = "".join(char for char, _ in inner)
        match = _RANGE.fullmatch(text)
        if match is None or any(quoted for _, quoted in inner):
            # `{}` and `{x}` stay as they are, unless they could be a range of another kind or
            # another brace follows.
            later = any(mark == ("{", False) for mark in marks[start + 1 :])
            return None if later or ".." in text else [marks]
        first, last = int(match[1]), int(match[2])
        if abs(last - first) >= MAX_WORDS:
            return None
        step = 1 if last >= first else -1
        choices = [[(c, False) for c in str(n)] for n in range(first, last + step, step)]
    rest = _expand(marks[end + 1 :], depth + 1)
    if rest is None or len(choices) * len(rest) > MAX_WORDS:
        return None
    return [[*marks[:start], *choice, *tail] for choice in choices for tail in rest]
