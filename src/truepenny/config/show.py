"""The effective settings as rows: key, value, where it comes from, what it does. Secrets masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, SecretStr

from .complaint import dotted
from .load import Loaded
from .position import KeyPath
from .schema import Kind, Table, root
from .secret import shown

NOT_SET = "not set"


@dataclass(frozen=True, slots=True)
class Row:
    """One key. `value` is TOML text with secrets masked, or `NOT_SET`."""

    key: str
    value: str
    source: str
    description: str


def effective(loaded: Loaded) -> list[Row]:
    """Return every key of the tree in the order of its fields.

    Of a provider, model or cluster only the keys that somebody set, and those with a default.
    """
    return list(_rows(loaded.settings, root(), (), loaded))


def _rows(
    value: Any, table: Table, path: KeyPath, loaded: Loaded, *, free: bool = False
) -> Iterator[Row]:
    names = list(cast("Mapping[str, Any]", value)) if table.element else list(table.entries)
    for name in names:
        entry = table.get(name)
        assert entry is not None, "names come from the table itself"
        here = (*path, name)
        inner = value[name] if table.element else getattr(value, name)
        key = dotted(here)
        if entry.kind is Kind.TABLE and entry.table is not None and inner:
            free_below = free or entry.table.element is not None
            yield from _rows(inner, entry.table, here, loaded, free=free_below)
        elif not (free and inner is None):
            yield Row(key, _text(inner), loaded.source(key), entry.description)


def _text(value: Any) -> str:
    if value is None:
        return NOT_SET
    if isinstance(value, SecretStr):
        return json.dumps(shown(value), ensure_ascii=False)
    if isinstance(value, BaseModel):
        pairs = cast("Mapping[str, Any]", dict(value))
        return f"{{{', '.join(f'{name} = {_text(part)}' for name, part in pairs.items())}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(_text(part) for part in cast('tuple[Any, ...]', value))}]"
    return json.dumps(value, ensure_ascii=False)
