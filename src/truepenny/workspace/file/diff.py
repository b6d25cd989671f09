"""What changed in a text, as a bounded unified diff; or the reason why none was made."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DIFF_SOURCE_BYTES = 1024 * 1024
"""Sides above this are not compared (tools spec 2.2)."""

COMPARE_STEPS = 5_000_000
"""Steps of comparing in the worst case, some half a second: many equal lines make it cubic."""

DIFF_MIDDLE_LINES = 4000
"""Lines of both sides together, the equal beginning and end apart, beyond which no diff helps."""

DIFF_LINE_CHARS = 500
DIFF_BYTES = 32_768
"""One line of a diff, and all of it (tools spec 2.2)."""

CONTEXT_LINES = 3


@dataclass(frozen=True, slots=True)
class Diff:
    """The text, or `skipped` with the reason; `first_line` is the first that differs, from 1."""

    text: str = ""
    skipped: str = ""
    first_line: int | None = None
    cut: bool = False


def diff(before: str, after: str) -> Diff:
    """Compare two texts by lines. The file's name is not in it."""
    if max(len(before), len(after)) > DIFF_SOURCE_BYTES:
        return Diff(skipped=f"a side is larger than {DIFF_SOURCE_BYTES} bytes")
    old, new = _lines(before), _lines(after)
    head = _equal(old, new)
    if head == len(old) == len(new):
        return Diff()
    tail = _equal(old[: head - 1 if head else None : -1], new[: head - 1 if head else None : -1])
    middle = len(old) + len(new) - 2 * (head + tail)
    if middle > DIFF_MIDDLE_LINES:
        reason = f"{middle} lines differ or lie between those that do"
        return Diff(skipped=reason, first_line=head + 1)
    # Only what lies around the change is compared; the numbers are moved back afterwards.
    skip = max(0, head - CONTEXT_LINES)
    keep = max(0, tail - CONTEXT_LINES)
    lines: list[str] = []
    for group in _groups(old[skip : len(old) - keep], new[skip : len(new) - keep]):
        first, last = group[0], group[-1]
        lines.append(
            f"@@ -{_span(first[1] + skip, last[2] + skip)} "
            f"+{_span(first[3] + skip, last[4] + skip)} @@\n"
        )
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[skip + i1 : skip + i2]]
                continue
            lines += [f"-{line}" for line in old[skip + i1 : skip + i2]]
            lines += [f"+{line}" for line in new[skip + j1 : skip + j2]]
    return _bounded(lines, head + 1)


def comparable(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether comparing two lists of lines by `SequenceMatcher` ends soon, whatever they hold."""
    counts = Counter(new)
    pairs = sum(times * counts[line] for line, times in Counter(old).items())
    return pairs * min(len(old), len(new)) <= COMPARE_STEPS


_Code = tuple[str, int, int, int, int]


def _groups(old: list[str], new: list[str]) -> Iterable[list[_Code]]:
    """Return what is equal and what is not, near each change; where finding the shortest way
    would take too long, all between the equal beginning and end counts as changed."""
    if comparable(old, new):
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        return matcher.get_grouped_opcodes(CONTEXT_LINES)
    head = _equal(old, new)
    tail = _equal(old[:head:-1], new[:head:-1])
    tail = min(tail, len(old) - head, len(new) - head)
    end, other = len(old) - tail, len(new) - tail
    codes = [
        ("equal", 0, head, 0, head),
        ("replace", head, end, head, other),
        ("equal", end, len(old), other, len(new)),
    ]
    return [[code for code in codes if code[1] < code[2] or code[3] < code[4]]]


def _bounded(lines: list[str], first: int) -> Diff:
    out: list[str] = []
    size = 0
    for line in lines:
        body = line.rstrip("\r\n")
        more = len(body) - 1 - DIFF_LINE_CHARS  # the mark before it is none of its characters
        if more > 0:
            body = f"{body[:-more]} [{more} characters more]"
        ending = "" if line.endswith("\n") else "\n\\ no line break at the end"
        shown = f"{body}{ending}\n"
        size += len(shown.encode("utf-8", "surrogatepass"))
        if size > DIFF_BYTES:
            out.append(f"[{len(lines) - len(out)} lines of the diff are left out]\n")
            return Diff("".join(out), first_line=first, cut=True)
        out.append(shown)
    return Diff("".join(out), first_line=first)


def _lines(text: str) -> list[str]:
    """Return the lines with their line feeds; nothing else that Unicode calls a line break."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _equal(one: list[str], other: list[str]) -> int:
    """Return how many lines are equal at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _span(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start},{length}" if length != 1 else f"{start + 1}"
