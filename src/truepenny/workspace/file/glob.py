"""Patterns for paths: `*`, `**`, `?`, `[abc]`, `[!abc]`, `{a,b}` and `\\` before any of them.

Matched name by name, each by a pattern that never goes back (`fnmatch`), so that no pattern takes
long, whatever the names are.
"""

from __future__ import annotations

import fnmatch
import re

MOST_CHARS = 1000
"""A longer pattern is a mistake."""

MOST_ALTERNATIVES = 64
"""Patterns that braces may come to together."""

_Segment = re.Pattern[str] | None  # None is `**`


class Glob:
    """A compiled pattern.

    One without a slash fits a name at any depth; one with a slash fits from any directory on, or
    only from the root when it begins with a slash. Raises ValueError with the reason.
    """

    def __init__(self, pattern: str) -> None:
        if not 0 < len(pattern) <= MOST_CHARS:
            raise ValueError(f"a pattern has 1 to {MOST_CHARS} characters")
        if "\0" in pattern:
            raise ValueError("the pattern has a NUL character")
        self._alternatives = [_compile(each) for each in _expand(pattern)]

    def fits(self, path: str) -> bool:
        """Whether a path below the root, with `/` between names, fits."""
        names = path.split("/")
        return any(_fits(segments, names) for segments in self._alternatives)


def _compile(pattern: str) -> list[_Segment]:
    body = pattern.removeprefix("./")
    anchored = body.startswith("/")
    segments = [
        None if name == "**" else re.compile(fnmatch.translate(_plain(name)))
        for name in body.split("/")
        if name
    ]
    if not segments:
        raise ValueError("the pattern names nothing")
    return segments if anchored or segments[0] is None else [None, *segments]


def _fits(segments: list[_Segment], names: list[str]) -> bool:
    """Follow all ways at once: never more than there are segments."""
    end = len(segments)
    ways = _skipping({0}, segments)
    for name in names:
        following: set[int] = set()
        for at in ways:
            if at == end:
                continue
            segment = segments[at]
            if segment is None:
                following |= {at, end} if at == end - 1 else {at}
            elif segment.match(name):
                following.add(at + 1)
        ways = _skipping(following, segments)
    return end in ways


def _skipping(ways: set[int], segments: list[_Segment]) -> set[int]:
    """Add the ways on which `**` is no name at all; at the end it is at least one."""
    for start in tuple(ways):
        at = start
        while at < len(segments) - 1 and segments[at] is None:
            at += 1
            ways.add(at)
    return ways


def _plain(name: str) -> str:
    """Return the segment as `fnmatch` writes it, which knows no backslash and `!` alone."""
    escaped = re.sub(r"\\(.)", lambda match: f"[{match[1]}]", name, flags=re.DOTALL)
    return escaped.replace("[^", "[!")


def _expand(pattern: str) -> list[str]:
    out: list[str] = []
    waiting = [pattern]
    while waiting:
        each = waiting.pop()
        found = re.search(r"(?<!\\)\{([^{}]*)\}", each)  # the innermost first
        if found is None:
            out.append(each)
            continue
        head, tail = each[: found.start()], each[found.end() :]
        waiting += [f"{head}{part}{tail}" for part in found[1].split(",")]
        if len(waiting) + len(out) > MOST_ALTERNATIVES:
            raise ValueError(f"the braces come to more than {MOST_ALTERNATIVES} patterns")
    return out
