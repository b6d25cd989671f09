"""What is said about a wrong key or value: the key, its place, the value if it may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from truepenny.errors import ConfigurationError

from .position import KeyPath
from .schema import Entry, Kind, Table, dotted_keys, nearest, root
from .secret import MASK
from .settings import RULE

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

MAX_SHOWN_CHARS = 60
"""Enough to recognise a value by."""

MAX_SHOWN_BITS = 4096
"""Bits of the longest integer that is written out."""

_REASONS = {
    "string_type": "must be text in quotes",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be an array",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "finite_number": "must be a finite number",
    "missing": "is missing",
}
"""Pydantic's error types in the words of TOML; all others keep pydantic's sentence."""


def dotted(path: KeyPath) -> str:
    """Return the key as people write it: quoted where TOML wants quotes, indexes in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            plain = part.replace("-", "").replace("_", "").isalnum() and part.isascii()
            text += ("." if text else "") + (part if plain else f'"{part}"')
    return text


def place_of(path: KeyPath, places: Mapping[KeyPath, str]) -> str:
    """Return the place of a key, or of the nearest table around it that has one."""
    for length in range(len(path), 0, -1):
        place = places.get(path[:length])
        if place is not None:
            return place
    return "default"


def unknown_key(key: str, path: KeyPath, table: Table) -> tuple[str, str]:
    """Return message and remedy for a key that its table does not have."""
    near = nearest(key, table.entries)
    if near:
        remedy = f"Did you mean {dotted((*path, near))}?"
    else:
        elsewhere = [name for name, _ in dotted_keys() if name.rsplit(".", 1)[-1] == key]
        remedy = (
            f"Did you mean {elsewhere[0]}?"
            if elsewhere
            else f"Known here: {', '.join(sorted(table.entries))}."
        )
    return f"unknown key {dotted((*path, key))}; it has no effect", remedy


def from_validation(error: ValidationError, places: Mapping[KeyPath, str]) -> ConfigurationError:
    """Return the error for a person: the first wrong value in full, the others below it."""
    found: list[tuple[str, str]] = []
    for details in error.errors(include_url=False, include_context=False):
        path = tuple(part for part in details["loc"] if part != "[key]")
        found.append((place_of(path, places), _sentence(details, path)))
    (where, message), *others = found
    if others:
        message += "".join(f"\n  {place}: {sentence}" for place, sentence in others)
    return ConfigurationError(
        message, where=where, remedy="Correct it, or remove it to use the default."
    )


def _sentence(details: ErrorDetails, path: KeyPath) -> str:
    reason = _REASONS.get(details["type"])
    if reason is None:
        reason = details["msg"].removeprefix("Value error, ")
        for opening in ("Input should ", "String should ", "Value should "):
            if reason.startswith(opening):
                reason = f"must {reason.removeprefix(opening)}"
    if details["type"] in ("missing", RULE):
        return f"{dotted(path)} {reason}"
    return f"{dotted(path)} {reason}, not {_shown(details['input'], path, details['loc'])}"


def _shown(value: Any, path: KeyPath, location: tuple[int | str, ...]) -> str:
    """Return the value if nothing secret can be in it, else what kind of value it is."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "an array"
    entry = _entry(path)
    if entry is None or entry.secret:
        return MASK
    if isinstance(value, str) and entry.kind is Kind.TABLE and location[-1] != "[key]":
        # Text where a table belongs is quite often a key that somebody pasted.
        return "text"
    if isinstance(value, str):
        # An address may carry a password.
        from truepenny.text.redact import Redactor

        value = Redactor().text(value).text
    if isinstance(value, int) and value.bit_length() > MAX_SHOWN_BITS:
        return "a number of that size"  # Python refuses to write out the longest ones
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    if len(text) > MAX_SHOWN_CHARS:
        text = f"{text[:MAX_SHOWN_CHARS]}… ({len(text)} characters)"
    return text


def _entry(path: KeyPath) -> Entry | None:
    table: Table | None = root()
    entry: Entry | None = None
    for part in path:
        if isinstance(part, int):
            continue
        entry = table.get(part) if table is not None else None
        table = entry.table if entry is not None else None
    return entry
