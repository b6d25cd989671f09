"""Find the secrets in a text: one pass over all rules' anchors, and the known values."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .anchor import AnchorIndex
from .known import KnownValues
from .rule import MASK_PATTERN, MAX_BACK, TOKEN_END, Rule, mask


@dataclass(frozen=True, slots=True)
class Hit:
    """One secret: `begin` is where its whole match begins, `start` and `end` what is masked."""

    begin: int
    start: int
    end: int
    name: str
    until: str = TOKEN_END
    opens: str = ""


class RuleSet:
    """Rules made ready for searching; built once for a tuple of rules and never changed."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._plain = _Anchors([rule for rule in rules if not rule.folded])
        self._folded = _Anchors([rule for rule in rules if rule.folded])

    def scan(self, text: str, known: KnownValues) -> list[Hit]:
        """Return all hits in order of their start; they may overlap."""
        hits = self._plain.scan(text, text)
        hits += self._folded.scan(text, _fold(text))
        hits += [Hit(start, start, end, label) for start, end, label in known.find(text)]
        hits.sort(key=lambda hit: (hit.start, -hit.end, hit.name))
        return hits


class _Anchors:
    """The anchors of some rules, and the rules to try at each of them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            for anchor in rule.anchors:
                self._rules.setdefault(anchor, []).append(rule)
        self._index = AnchorIndex(self._rules)

    def scan(self, text: str, folded: str) -> list[Hit]:
        hits: list[Hit] = []
        tried: set[tuple[str, int]] = set()
        covered: dict[str, tuple[int, int]] = {}
        # From left to right: what covers what must not depend on the rest of the text.
        for place, anchor in sorted(self._index.find(folded)):
            for rule in self._rules[anchor]:
                at = _step_back(text, place, rule.back) if rule.back else place
                # Two anchors in one key lead to the same beginning: one try is enough.
                if (rule.name, at) in tried:
                    continue
                tried.add((rule.name, at))
                # Nor one inside a secret that the rule has just found: it is masked already, and a
                # line full of anchors would be read to its end from each of them.
                start, end = covered.get(rule.name, (0, 0))
                if start <= at < end:
                    continue
                result = rule.find(text, at)
                if result is not None:
                    begin, span = result
                    covered[rule.name] = (span.start, span.end)
                    hits.append(Hit(begin, span.start, span.end, rule.name, span.until, span.opens))
        return hits


def _step_back(text: str, place: int, chars: str) -> int:
    lowest = max(0, place - MAX_BACK)
    return lowest + len(text[lowest:place].rstrip(chars))


def _fold(text: str) -> str:
    """Lower-case without moving a character: some letters have a longer lower-case form."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def settle(text: str, hits: Iterable[Hit]) -> list[Hit]:
    """Join overlapping hits and leave masks that stand already alone; the result is disjoint.

    Expects hits in order of their start. The longest of joined hits gives the name.
    """
    joined: list[Hit] = []
    for hit in hits:
        if hit.start >= hit.end:
            continue
        if joined and (
            hit.start < joined[-1].end
            or (hit.start == joined[-1].end and hit.name == joined[-1].name)
        ):
            last = joined[-1]
            longest = max(last, hit, key=lambda one: one.end - one.start)
            joined[-1] = Hit(
                min(last.begin, hit.begin),
                last.start,
                max(last.end, hit.end),
                longest.name,
                (last if last.end >= hit.end else hit).until,
            )
        else:
            joined.append(hit)
    if not joined or "[REDACTED:" not in text:
        return joined
    masks = [match.span() for match in MASK_PATTERN.finditer(text)]
    return [kept for hit in joined if (kept := _beside_masks(text, hit, masks)) is not None]


_MASK_OR_NOTHING = re.compile(rf"(?:{MASK_PATTERN.pattern}|[\s,;:.\"'\\]+)*")


def _beside_masks(text: str, hit: Hit, masks: list[tuple[int, int]]) -> Hit | None:
    """Keep a hit off the masks of an earlier pass, else redacting twice would change the text."""
    start, end = hit.start, hit.end
    # Masks are in order and disjoint, so their ends are in order too.
    first = bisect.bisect_right(masks, start, key=lambda span: span[1])
    last = bisect.bisect_left(masks, end, key=lambda span: span[0])
    if first >= last:
        return hit
    for left, right in masks[first:last]:
        if left < start < right:
            start = right
        if left < end < right:
            end = left
    if start >= end or _MASK_OR_NOTHING.fullmatch(text, start, end):
        return None
    return Hit(hit.begin, start, end, hit.name, hit.until, hit.opens)


def apply(text: str, hits: Iterable[Hit], counts: dict[str, int], begin: int, end: int) -> str:
    """Write `text[begin:end]` with the settled hits masked, and count them by name."""
    parts: list[str] = []
    for hit in hits:
        if hit.end <= begin or hit.start >= end:
            continue
        parts += (text[begin : hit.start], mask(hit.name))
        counts[hit.name] = counts.get(hit.name, 0) + 1
        begin = hit.end
    if not parts:
        return text[begin:end]
    parts.append(text[begin:end])
    return "".join(parts)
