"""Patterns for paths: `*`, `**`, `?`, `[abc]`, `{a,b}`; the same for every tool."""

from __future__ import annotations

import re

MOST_CHARS = 1000
"""A longer pattern is a mistake."""

_MOST_BRACES = 16


def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression for a whole path below the search root, with `/` between names.

    A pattern without a slash fits a name at any depth; one with a slash fits from any directory
    on, or only from the root when it begins with a slash. Raises ValueError with the reason.
    """
    if not pattern or len(pattern) > MOST_CHARS:
        raise ValueError(f"a pattern has 1 to {MOST_CHARS} characters")
    if "\0" in pattern:
        raise ValueError("the pattern has a NUL character")
    body = pattern.removeprefix("./")
    anywhere = "" if body.startswith("/") else r"(?:.*/)?"
    return re.compile(anywhere + _translate(body.lstrip("/")), re.DOTALL)


def _translate(pattern: str) -> str:
    out: list[str] = []
    at, depth = 0, 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            if pattern[at : at + 1] != "*":
                out.append("[^/]*")
                continue
            while pattern[at : at + 1] == "*":
                at += 1
            if pattern[at : at + 1] == "/":
                at += 1
                out.append("(?:[^/]+/)*")
            else:
                out.append(".*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            at = _character_class(pattern, at, out)
        elif char == "{" and "}" in pattern[at:] and depth < _MOST_BRACES:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and at < len(pattern):
            out.append(re.escape(pattern[at]))
            at += 1
        else:
            out.append(re.escape(char))
    if depth:
        raise ValueError("a brace is not closed")
    return "".join(out)


def _character_class(pattern: str, at: int, out: list[str]) -> int:
    negated = pattern[at : at + 1] in ("!", "^")
    begin = at + negated
    end = pattern.find("]", begin + 1)
    if end < 0:
        out.append(r"\[")
        return at
    inner = pattern[begin:end].replace("\\", r"\\").replace("[", r"\[").replace("&", r"\&")
    inner = inner.replace("~", r"\~").replace("|", r"\|").replace("]", r"\]").replace("^", r"\^")
    fresh = f"[^/{inner}]" if negated else f"(?!/)[{inner}]"
    try:
        re.compile(fresh)
    except re.error as error:
        raise ValueError(f"[{pattern[begin:end]}] is no set of characters: {error}") from None
    out.append(fresh)
    return end + 1
