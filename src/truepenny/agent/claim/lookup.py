"""Looks one anchor up in the recorded results that a sentence cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .anchor import Anchor, Number, anchors, number, numbers, stems
from .source import Block, Line, Source

NAME_WEIGHT = 2
"""A name that a record shares with the sentence counts for two plain words: it says whose value."""

SLACK = 1
"""How many words the best line of one result may be behind that of another one cited with it."""

OMITTED_AT_ZERO = ("readyReplicas", "availableReplicas", "updatedReplicas")
"""Counts in the status of a workload that Kubernetes does not write while they are 0."""

MOST_LABELS = 4
"""Labels before a quotation: the object, its field, a reason, and a part of the message."""
LEAST_TAIL = 12
"""Characters of a quotation below which finding them says little."""

_SEEN = re.compile(r" \(seen (\d+) times\)$")
_PAIR = re.compile(r"(?P<path>[A-Za-z][\w.\[\]/-]*)=(?P<value>[^\s;,]+)")


@dataclass(frozen=True, slots=True)
class Best:
    """The lines of one result that fit best what a sentence says of a number."""

    score: int
    lines: tuple[Line, ...]


@lru_cache(maxsize=2048)
def _word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(text)}(?![A-Za-z0-9_-])", re.IGNORECASE)


def has_word(text: str, word: str) -> bool:
    """Whether a text holds a whole word: `web` is not in `web-1`."""
    return word.lower() in text.lower() and _word(word).search(text) is not None


def missing(found: Sequence[Anchor], sources: Sequence[Source]) -> Iterator[Anchor]:
    """Yield those of the anchors that none of the results holds."""
    names = [anchor.text for anchor in found if anchor.kind == "name"]
    names += [
        a.text for a in found if a.kind == "quote" and " " not in a.text and "=" not in a.text
    ]
    for anchor in found:
        if not held(anchor, sources, names):
            yield anchor


def names_in(found: Sequence[Anchor]) -> list[str]:
    """Return what a sentence is about: its names, in code spans too."""
    return [
        anchor.text
        for anchor in found
        if anchor.kind == "name"
        or (anchor.kind == "quote" and not any(sign in anchor.text for sign in " ="))
    ]


def held(anchor: Anchor, sources: Sequence[Source], names: Sequence[str]) -> bool:
    """Whether the results hold the anchor, in the records that the sentence is about."""
    match anchor.kind:
        case "name":
            return any(_names(source, anchor.text) for source in sources)
        case "reason":
            return any(_reason(source, anchor.text, names) for source in sources)
        case "number":
            return _numbers(anchor, sources, names)
        case "quote":
            return any(_quotes(source, anchor.text) for source in sources)


def _names(source: Source, name: str) -> bool:
    if has_word(source.text, name) or has_word(source.own, name):
        return True
    parts = name.split("/")
    if len(parts) < 2 or not all(parts):
        return False
    return any(
        all(has_word(block.text, part) or has_word(source.own, part) for part in parts)
        for block in source.blocks
    )


def _reason(source: Source, reason: str, names: Sequence[str]) -> bool:
    if has_word(source.own, reason):
        return True
    return any(has_word(block.text, reason) for block in _about(source, names))


def _about(source: Source, names: Sequence[str]) -> Sequence[Block]:
    """Return the records that hold most of the names; all of them where none holds any."""
    scores = [_shared(block, names) for block in source.blocks]
    most = max(scores, default=0)
    return [block for block, score in zip(source.blocks, scores, strict=True) if score == most]


def _shared(block: Block, names: Sequence[str]) -> int:
    found = 0
    for name in names:
        parts = [part for part in name.split("/") if part]
        found += all(has_word(block.text, part) for part in parts) or has_word(block.text, name)
    return found


def _numbers(anchor: Anchor, sources: Sequence[Source], names: Sequence[str]) -> bool:
    if "/" in anchor.text:
        if any(_reason(source, anchor.text, names) for source in sources):
            return True
        parts = (replace(anchor, text=part) for part in anchor.text.split("/"))
        return all(_numbers(part, sources, names) for part in parts)
    names = [name for name in names if name in anchor.around] or names
    value, _, unit = anchor.text.partition(" ")
    wanted = number(value, unit)
    if wanted is None:
        return False
    if not wanted.unit and any(_counted(anchor, wanted, source) for source in sources):
        return True
    if wanted.value == "0" and any(_omitted(anchor, source, names) for source in sources):
        return True
    ranked = [_best(anchor, source, names) for source in sources]
    top = max((best.score for best in ranked), default=0)
    fits = any(
        best.score and best.score >= top - SLACK and any(_says(line, wanted) for line in best.lines)
        for best in ranked
    )
    if not fits and anchor.near != anchor.wide:
        return _numbers(replace(anchor, near=anchor.wide), sources, names)
    return fits


def _omitted(anchor: Anchor, source: Source, names: Sequence[str]) -> bool:
    """Whether a field that the API leaves out at 0 is left out of what the sentence is about."""
    fields = [field for field in OMITTED_AT_ZERO if stems(field)[0] in anchor.near]
    return source.whole and any(
        block.kind
        and not any(line.path == f"status.{field}" for line in block.lines)
        and any(line.path == "status.replicas" for line in block.lines)
        for block in _about(source, names)
        for field in fields
    )


def _says(line: Line, wanted: Number) -> bool:
    return any(wanted.equals(found) for found in numbers(line.value.replace("/", " ")))


def _best(anchor: Anchor, source: Source, names: Sequence[str]) -> Best:
    near = frozenset(anchor.near)
    score, lines = 0, list[Line]()
    for block in source.blocks:
        shared = NAME_WEIGHT * _shared(block, names)
        for line in block.lines:
            if not any(letter.isdigit() for letter in line.value):
                continue
            # A single text is one record: there a name counts in its own line alone.
            named = shared if len(source.blocks) > 1 else NAME_WEIGHT * _in(line, names)
            words = len(near.intersection(stems(line.path or line.value[:500])))
            if not words:
                continue
            if named + words > score:
                score, lines = named + words, [line]
            elif named + words == score:
                lines.append(line)
    facts = [Line(name, value) for name, value in source.facts.items()]
    for line in facts:
        words = len(near.intersection(stems(line.path)))
        if words and words >= score:
            score, lines = max(score, words), [*lines, line]
    return Best(score, tuple(lines))


def _in(line: Line, names: Sequence[str]) -> int:
    return sum(has_word(line.text, name) for name in names)


def _counted(anchor: Anchor, wanted: Number, source: Source) -> bool:
    """Whether the number is that of the items of a kind which the sentence names beside it."""
    return any(
        str(count) == wanted.value and any(stem in anchor.of for stem in stems(kind))
        for kind, count in source.counts.items()
    )


def _quotes(source: Source, quote: str) -> bool:
    flat = " ".join(quote.split())
    if flat in source.flat or (source.command and flat in source.command):
        return True
    if any(flat in " ".join(line.value.split()) for block in source.blocks for line in block.lines):
        return True
    if flat.startswith("kubectl ") and set(flat.split()) <= set(source.command.split()):
        return True
    if _labelled(source, flat):
        return True
    if _PAIR.search(flat):
        return all(_projected(source, part) for part in flat.split(";") if part.strip())
    if " " not in flat:
        return any(a.kind == "name" and _names(source, flat) for a in anchors(flat)) or _names(
            source, flat
        )
    return False


def _labelled(source: Source, quote: str) -> bool:
    """Whether one record holds words and labels of `Pod web: reason: words`."""
    for match in list(re.finditer(": ", quote))[:MOST_LABELS]:
        tail = quote[match.end() :].rstrip("…")
        seen = _SEEN.search(tail)
        tail = tail[: seen.start()] if seen else tail
        if len(tail) < LEAST_TAIL:
            return False
        labels = anchors(quote[: match.start()])
        wanted = [a.text for a in labels if not (a.kind == "name" and _is_path(a.text, source))]
        wanted += [seen[1]] if seen else []
        for block in source.blocks:
            said = any(tail in " ".join(line.value.split()) for line in block.lines)
            if said and all(has_word(block.text, word) for word in wanted):
                return True
    return False


def _projected(source: Source, part: str) -> bool:
    """Whether one record holds all `path=value` of a shortened quotation, and its other anchors."""
    pairs = [(match["path"], match["value"]) for match in _PAIR.finditer(part)]
    rest = anchors(_PAIR.sub(lambda match: " " * len(match[0]), part))
    paths = [a for a in rest if a.kind == "name" and _is_path(a.text, source)]
    names = [a.text for a in rest if a.kind == "name" and a not in paths]
    for block in _about(source, names):
        if all(_pair(block, path, value) for path, value in pairs):
            others = [a for a in rest if a.kind != "quote" and a not in paths]
            return all(held(anchor, [source], names) for anchor in others)
    return False


def _is_path(text: str, source: Source) -> bool:
    return "." in text and any(text in line.path for block in source.blocks for line in block.lines)


def _pair(block: Block, path: str, value: str) -> bool:
    return any(
        line.value == value and (line.path == path or line.path.endswith(f".{path}"))
        for line in block.lines
    )
