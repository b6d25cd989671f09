"""The balance of a style sheet's brackets, comments and strings, and the files it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .page_finding import Problem, Reference

_PAIRS = {"}": "{", "]": "[", ")": "("}
_NEXT = re.compile(r"/\*|[\"'{}\[\]()]|\\|@import\s|\burl\(\s*", re.IGNORECASE)
_STRING = {
    quote: re.compile(rf"(?:[^{quote}\\\n]|\\(?:.|\n))*{quote}", re.DOTALL) for quote in "\"'"
}
_BARE_URL = re.compile(r"[^\s\"'()\\]*(?:\\.[^\s\"'()\\]*)*\s*\)")


@dataclass(slots=True)
class Style:
    """What one pass found."""

    problems: list[Problem] = field(default_factory=list[Problem])
    references: list[Reference] = field(default_factory=list[Reference])


def read_style(text: str, first_line: int = 1) -> Style:
    """Read a style sheet that begins on `first_line`. Stops at the first imbalance: what follows
    it would be guessed."""
    style = Style()
    opened: list[tuple[str, int]] = []
    at, counted, line, names_file = 0, 0, first_line, False
    while found := _NEXT.search(text, at):
        line += text.count("\n", counted, found.start())
        counted, at = found.start(), found.end()
        token = found[0]
        if token == "/*":
            end = text.find("*/", at)
            if end < 0:
                style.problems.append(Problem(line, "a comment is never closed"))
                return style
            at = end + 2
        elif token == "\\":
            at += 1
        elif token[0] == "@":
            names_file = True
            continue
        elif token in _STRING:
            string = _STRING[token].match(text, at)
            if string is None:
                style.problems.append(Problem(line, "a string is not closed on its line"))
                return style
            if names_file or (opened and opened[-1][0] == "url("):
                style.references.append(Reference(string[0][:-1], line))
            at = string.end()
        elif token.lower().startswith("url("):
            bare = None if text[at : at + 1] in ("'", '"') else _BARE_URL.match(text, at)
            if bare is None:
                opened.append(("url(", line))
            else:
                style.references.append(Reference(bare[0][:-1].strip(), line))
                at = bare.end()
            names_file = False
            continue
        elif token in _PAIRS:
            if not opened or opened[-1][0][-1] != _PAIRS[token]:
                inside = f"; `{opened[-1][0]}` of line {opened[-1][1]} is open" if opened else ""
                style.problems.append(Problem(line, f"`{token}` closes nothing{inside}"))
                return style
            opened.pop()
        else:
            opened.append((token, line))
        names_file = False
    for token, since in opened:
        style.problems.append(Problem(since, f"`{token}` is never closed"))
    return style
