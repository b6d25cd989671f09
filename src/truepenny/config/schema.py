"""The settings tree read as data: which keys a table has, of which kind, with which description.

Derived from the pydantic fields, so there is no second list. Used to read environment variables by
type, to find unknown keys, to print effective values and to check the documentation.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, SecretStr

from .settings import Settings

WILDCARD = "<name>"
"""Stands for the free key of an open table in a dotted key: `providers.<name>.wire`."""


class Kind(StrEnum):
    """What a value is in TOML."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key. `table` is the table it holds, or that each element of its array holds.

    A table without `table` takes whatever is written.
    """

    kind: Kind
    description: str = ""
    secret: bool = False
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """One table: fixed `entries`, or, if `element` is given, free keys that all hold the same."""

    entries: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    element: Entry | None = None

    def get(self, key: str) -> Entry | None:
        """Return what the key holds, or None if the table has no such key."""
        return self.element or self.entries.get(key)


@cache
def root() -> Table:
    """Return the whole tree."""
    return _table(Settings)


def dotted_keys(table: Table | None = None, prefix: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield every key that holds a value, in the order of the fields; free keys as `WILDCARD`."""
    table = table or root()
    entries = table.entries if table.element is None else {WILDCARD: table.element}
    for name, entry in entries.items():
        key = f"{prefix}{name}"
        if entry.kind is Kind.TABLE and entry.table is not None:
            yield from dotted_keys(entry.table, f"{key}.")
        else:
            yield key, entry


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word most like this one, or '' if none is like it."""
    close = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return close[0] if close else ""


def _table(model: type[BaseModel]) -> Table:
    return Table(
        {
            name: _entry(info.annotation, info.description or "")
            for name, info in model.model_fields.items()
        }
    )


def _entry(annotation: Any, description: str) -> Entry:
    annotation = _bare(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Entry(Kind.TABLE, description, table=_table(annotation))
    if origin is dict and arguments[1] is Any:
        return Entry(Kind.TABLE, description)
    if origin is dict:
        element = _entry(arguments[1], description)
        return Entry(Kind.TABLE, description, element.secret, Table(element=element))
    if origin is tuple:
        element = _entry(arguments[0], description)
        return Entry(Kind.ARRAY, description, element.secret, element.table)
    if origin is Literal:
        return Entry(Kind.TEXT, description)
    return Entry(_SCALARS[cast(type, annotation)], description, annotation is SecretStr)


def _bare(annotation: Any) -> Any:
    """Return the type without its limits and without `| None`."""
    while True:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            annotation = arguments[0]
        elif origin in (Union, types.UnionType):
            annotation = next(part for part in arguments if part is not type(None))
        else:
            return annotation


_SCALARS: Mapping[type, Kind] = {
    str: Kind.TEXT,
    SecretStr: Kind.TEXT,
    int: Kind.INTEGER,
    float: Kind.NUMBER,
    bool: Kind.BOOLEAN,
}
