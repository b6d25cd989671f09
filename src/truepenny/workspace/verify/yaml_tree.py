"""Strict YAML: a tree with the line of every value, and none of what hides meaning.

Anchors, aliases, tags, merge keys, duplicate keys and further documents are refused. Plain words
mean what JSON would make of them: `yes`, `on`, `12:30` and `2026-01-01` stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .check import CatalogRefused

MAX_DEPTH = 8
"""A catalog is five deep at most."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"": None, "null": None, "~": None, "true": True, "false": False}
_MAX_DIGITS = 400
"""More than any double has before the point; a longer number stays text and is refused as such."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value; quoted words are text."""

    value: str | int | float | bool | None
    line: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping with text keys. `lines` has the line of each key."""

    items: dict[str, Node]
    lines: dict[str, int]
    line: int


Node = Scalar | Sequence | Mapping


def parse(text: str, file: str) -> Node:
    """Read one document. Raises CatalogRefused: `not_yaml`, `empty`, `nul`, `yaml_anchor`,
    `yaml_alias`, `yaml_tag`, `yaml_merge`, `yaml_documents`, `yaml_key`, `duplicate_key`,
    `too_deep`."""
    import yaml

    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CatalogRefused("nul", "a NUL character", f"{file}:{line}")
    # The parser in C reads ten times faster; both give the same events and marks.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(iter(yaml.parse(text, Loader=loader)), file).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}" if mark is not None else file
        what = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise CatalogRefused("not_yaml", f"not YAML: {what}", place) from None


class _Builder:
    def __init__(self, events: Iterator[Any], file: str) -> None:
        self._events, self._file = events, file

    def document(self) -> Node:
        import yaml

        tree: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if tree is not None:
                    raise self._refuse("yaml_documents", "a second document", event)
                tree = self._node(next(self._events), 1)
        if tree is None:
            raise CatalogRefused("empty", "the file is empty", self._file)
        return tree

    def _node(self, event: Any, depth: int) -> Node:
        import yaml

        if depth > MAX_DEPTH:
            raise self._refuse("too_deep", f"more than {MAX_DEPTH} levels", event)
        if isinstance(event, yaml.AliasEvent):
            raise self._refuse("yaml_alias", f"the alias *{event.anchor}", event)
        if event.anchor is not None:
            raise self._refuse("yaml_anchor", f"the anchor &{event.anchor}", event)
        if event.tag is not None:
            raise self._refuse("yaml_tag", f"the tag {event.tag}", event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(following := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(following, depth + 1))
            return Sequence(tuple(items), _line(event))
        return self._mapping(event, depth)

    def _mapping(self, start: Any, depth: int) -> Mapping:
        import yaml

        items: dict[str, Node] = {}
        lines: dict[str, int] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(key, Scalar) or not isinstance(key.value, str):
                raise self._refuse("yaml_key", "a key that is no text", event)
            if key.value == "<<":
                raise self._refuse("yaml_merge", "a merge key", event)
            if key.value in items:
                first = lines[key.value]
                message = f"the key {key.value!r} was given on line {first} already"
                raise self._refuse("duplicate_key", message, event)
            lines[key.value] = key.line
            items[key.value] = self._node(next(self._events), depth + 1)
        return Mapping(items, lines, _line(start))

    def _scalar(self, event: Any) -> Scalar:
        text: str = event.value
        if "\0" in text:
            raise self._refuse("nul", "a NUL character", event)
        value: str | int | float | bool | None = text
        if not event.style:  # None from one parser, empty from the other: a plain word
            if text in _WORDS:
                value = _WORDS[text]
            elif _INTEGER.fullmatch(text) and len(text) <= _MAX_DIGITS:
                value = int(text)
            elif _NUMBER.fullmatch(text) and len(text) <= _MAX_DIGITS:
                value = float(text)
        return Scalar(value, _line(event))

    def _refuse(self, reason: str, message: str, event: Any) -> CatalogRefused:
        return CatalogRefused(reason, message, f"{self._file}:{_line(event)}")


def _line(event: Any) -> int:
    return event.start_mark.line + 1
