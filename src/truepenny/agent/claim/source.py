"""A recorded result as something to look in: records of lines, each line a path and a value.

A JSON list is one record an item, each line a leaf of it: `status.containerStatuses[web].ready:
true`. A table with a heading is one record a row, each line a cell. Any other text is one record,
each line of it a line. Only the target's own words and the command are looked in: what a result
claims about itself has no say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from truepenny.tool.result import Result

MOST_LINES = 300_000
"""Leaves that are looked at: five thousand pods have fewer. Beyond it a result is partial here."""

_HEADING = re.compile(r"[A-Z][A-Z0-9%()/-]*(?: [A-Z0-9()/-]+)*(?: {2,}[A-Z][A-Z0-9%()/ -]*)+ *")
_COLUMN = re.compile(r"\S+(?: \S+)*")
_KEY = re.compile(r"\s*(?P<path>[A-Za-z][\w ./()-]{0,60}?)\s*[:=]\s+(?P<value>\S.*)")

SHOWN = frozenset({"success", "no_match", "target_failed", "upstream_failed", "truncated"})
"""Outcomes whose content is the target's. Of any other call nothing was observed."""


@dataclass(frozen=True, slots=True)
class Line:
    """One value and where it stands; `path` is "" for plain text."""

    path: str
    value: str

    @property
    def text(self) -> str:
        """Both, as words to look in."""
        return f"{self.path} {self.value}" if self.path else self.value


@dataclass(eq=False)
class Block:
    """One record: an item of a list, a row of a table, or a whole text."""

    kind: str
    lines: tuple[Line, ...]

    @cached_property
    def text(self) -> str:
        """All its lines."""
        return "\n".join(line.text for line in self.lines)


@dataclass(eq=False)
class Source:
    """What one call returned.

    `outcome` and `complete` are as recorded by us, never read from the text. `text` is the content
    alone, `command` what produced it.
    """

    call: str
    outcome: str
    complete: bool
    text: str
    command: str = ""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further words of ours on the call, by name: `exit 1`, `reason not_found`."""

    @property
    def observed(self) -> bool:
        """Whether the content says anything about the target."""
        return self.outcome in SHOWN

    @property
    def whole(self) -> bool:
        """Whether absence in the content means absence in what was asked for."""
        return (
            self.complete
            and self.outcome in ("success", "no_match")
            and (sum(len(block.lines) for block in self.blocks) < MOST_LINES)
        )

    @cached_property
    def flat(self) -> str:
        """The content with each run of white space as one space."""
        return " ".join(self.text.split())

    @cached_property
    def own(self) -> str:
        """The command and our facts, as words."""
        return " ".join((self.command, *(f"{name} {value}" for name, value in self.facts.items())))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The records, at most `MOST_LINES` lines in all."""
        body = self.text.strip()
        if body[:1] in ("{", "["):
            try:
                return tuple(_json(json.loads(body)))
            except (ValueError, RecursionError):
                pass
        lines = body.splitlines()[:MOST_LINES]
        if len(lines) > 1 and _HEADING.fullmatch(lines[0]):
            return tuple(_table(lines))
        return (Block("", tuple(_plain(line) for line in lines)),)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many items of each kind a whole list holds, by kind in lower case."""
        found: dict[str, int] = {}
        for block in self.blocks if self.whole else ():
            if block.kind:
                found[block.kind.lower()] = found.get(block.kind.lower(), 0) + 1
        return found


def source_of(call: str, result: Result) -> Source:
    """Return the result of a call as something to look in."""
    facts, words = result.facts, dict[str, str]()
    if facts.exit is not None and facts.exit.observed is not None:
        words["exit code status"] = str(facts.exit.observed)
    if facts.reason:
        words["reason"] = facts.reason
    whole = facts.completeness.state == "complete" and not facts.bytes.discarded
    return Source(call, result.outcome.value, whole, result.text, facts.command, words)


def _json(value: Any) -> Iterator[Block]:
    top = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    items = top.get("items")
    listed = cast("list[Any]", items if isinstance(items, list) else value)
    if not isinstance(items if isinstance(items, list) else value, list):
        yield Block(str(top.get("kind", "")), tuple(_leaves(value, "", MOST_LINES)))
        return
    left = MOST_LINES
    for item in listed:
        if left <= 0:
            return
        kind = str(cast("dict[str, Any]", item).get("kind", "")) if isinstance(item, dict) else ""
        if not kind and str(top.get("kind", "")).endswith("List"):
            kind = str(top["kind"]).removesuffix("List")
        lines = tuple(_leaves(item, "", left))
        left -= len(lines)
        yield Block(kind, lines)


def _leaves(value: Any, path: str, most: int) -> Iterator[Line]:
    """Yield the leaves below `value`, without recursion: a document may nest deeply."""
    stack: list[tuple[str, Any]] = [(path, value)]
    while stack and most > 0:
        where, here = stack.pop()
        if isinstance(here, dict):
            pairs = cast("dict[str, Any]", here)
            stack.extend(
                (f"{where}.{key}" if where else key, inner)
                for key, inner in reversed(list(pairs.items()))
            )
        elif isinstance(here, list):
            found = cast("list[Any]", here)
            stack.extend(
                (f"{where}[{_named(inner, place)}]", inner)
                for place, inner in reversed(list(enumerate(found)))
            )
        else:
            most -= 1
            shown = here if isinstance(here, str) else json.dumps(here)
            yield Line(where, shown)


def _named(value: Any, place: int) -> str:
    """Return the name of an item of a list, as people write it; its place where it has none."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        for key in ("name", "type"):
            if isinstance(found.get(key), str):
                return str(found[key])
    return str(place)


def _table(lines: list[str]) -> Iterator[Block]:
    columns = [(match.start(), match[0]) for match in _COLUMN.finditer(lines[0])]
    for row in lines[1:]:
        if not row.strip():
            continue
        cells: list[Line] = []
        for number, (start, name) in enumerate(columns):
            end = columns[number + 1][0] if number + 1 < len(columns) else len(row)
            if cell := row[start:end].strip():
                cells.append(Line(name.lower(), cell))
        yield Block("row", tuple(cells))


def _plain(line: str) -> Line:
    found = _KEY.fullmatch(line)
    return Line(found["path"], found["value"]) if found else Line("", line)
