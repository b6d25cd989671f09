"""Settings from environment variables: `TRUEPENNY_RUN__MAX_TURNS=20` sets `run.max_turns`.

The name is `TRUEPENNY_`, then the keys in capitals joined by two underscores. An empty value counts
as not set. Numbers and booleans are read by the field's type, an array is a JSON array or a list
with commas, a table is a JSON object. A name whose first key is not like any section is not ours
(Kubernetes sets `TRUEPENNY_PORT` and the like for a service of that name) and is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from .schema import Entry, Kind, nearest, root

PREFIX = "TRUEPENNY_"
SEPARATOR = "__"

_BOOLEANS = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable that names a setting. `value` is typed where its text could be read."""

    name: str
    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Stray:
    """A variable that looks like a setting and names none; `suggestion` is the nearest or ''."""

    name: str
    suggestion: str


def read(env: Mapping[str, str], data: Mapping[str, Any]) -> tuple[list[Variable], list[Stray]]:
    """Return the settings in `env` and the names that look like settings, both in name order.

    `data` is what the file says: a provider written `my-server` there is meant by `MY_SERVER`.
    """
    variables: list[Variable] = []
    strays: list[Stray] = []
    for name in sorted(env):
        if not name.startswith(PREFIX) or not env[name]:
            continue
        segments = name.removeprefix(PREFIX).lower().split(SEPARATOR)
        if not _looks_like_a_setting(segments):
            if meant := _with_one_underscore(segments, data):
                strays.append(Stray(name, meant))
            continue
        path, entry = _follow(segments, data)
        if entry is None:
            strays.append(Stray(name, variable_name(path) if path else ""))
        else:
            variables.append(Variable(name, path, typed(env[name], entry)))
    return variables, strays


def variable_name(path: Iterable[str]) -> str:
    """Return the variable that sets a key."""
    return PREFIX + SEPARATOR.join(
        part.upper().replace("-", "_").replace(".", "_") for part in path
    )


def typed(text: str, entry: Entry) -> Any:
    """Return the text as the entry's type; text that does not fit is returned as it is.

    The one check of types then names the key and its place, whatever the source was.
    """
    match entry.kind:
        case Kind.BOOLEAN:
            return _BOOLEANS.get(text.strip().lower(), text)
        case Kind.INTEGER:
            return _number(text, int)
        case Kind.NUMBER:
            return _number(text, float)
        case Kind.ARRAY if not text.lstrip().startswith("["):
            return [part.strip() for part in text.split(",") if part.strip()]
        case Kind.ARRAY | Kind.TABLE:
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                return text
        case Kind.TEXT:
            return text


def _number(text: str, convert: type[int] | type[float]) -> int | float | str:
    try:
        return convert(text.strip())
    except ValueError:
        return text


def _looks_like_a_setting(segments: list[str]) -> bool:
    if segments[0] in root().entries:
        return True
    return len(segments) > 1 and bool(nearest(segments[0], root().entries))


def _with_one_underscore(segments: list[str], data: Any) -> str:
    """Return the variable that was meant where keys are joined by one underscore, else ''."""
    for section in root().entries:
        rest = segments[0].removeprefix(f"{section}_")
        if rest != segments[0]:
            path, entry = _follow([section, rest, *segments[1:]], data)
            return variable_name(path) if entry is not None else ""
    return ""


def _follow(segments: list[str], data: Any) -> tuple[tuple[str, ...], Entry | None]:
    """Return the path and what it holds; None beside the nearest path if it names no key."""
    table, entry = root(), None
    path: tuple[str, ...] = ()
    for index, segment in enumerate(segments):
        key = segment if table.element is None else _as_written(segment, data)
        entry = table.get(key)
        if entry is None:
            near = nearest(segment, table.entries)
            return ((*path, near, *segments[index + 1 :]) if near else ()), None
        path = (*path, key)
        data = cast("dict[str, Any]", data).get(key) if isinstance(data, dict) else None
        if index == len(segments) - 1:
            break
        if entry.kind is not Kind.TABLE or entry.table is None:
            return path, None
        table = entry.table
    if (
        entry is not None
        and entry.table is not None
        and entry.kind is Kind.TABLE
        and len(path) == 1
    ):
        # A section is set key by key; all of it in one variable is a forgotten key.
        return ((*path, "key") if entry.table.element is None else (*path, "name", "key")), None
    return path, entry


def _as_written(segment: str, data: Any) -> str:
    """Return the name as the file writes it, where it differs only by case, dash or dot."""
    names = list(cast("dict[str, Any]", data)) if isinstance(data, dict) else []
    return next((name for name in names if _plain(name) == _plain(segment)), segment)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")
