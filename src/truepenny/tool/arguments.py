"""Checking a call's arguments against the tool's JSON Schema, once compiled per tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from .contract import Tool

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_PROBLEMS = 5
"""More would only repeat the first mistake."""

_Checker = Callable[[Any], "Iterable[ValidationError]"]
_checkers: WeakKeyDictionary[Tool, _Checker] = WeakKeyDictionary()


def problems(tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with the arguments, one line each naming the field; empty if nothing."""
    checker = _checkers.get(tool)
    if checker is None:
        # Imported here: it costs more than a whole `truepenny version`.
        from jsonschema import Draft202012Validator

        made = Draft202012Validator(dict(tool.parameters))
        checker = _checkers[tool] = cast("_Checker", made.iter_errors)
    found: list[str] = []
    for error in checker(arguments):
        place = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
        )
        found.append(f"{place.lstrip('.') or 'arguments'}: {_short(_said(error))}")
        if len(found) == MAX_PROBLEMS:
            break
    return tuple(found)


def _said(error: ValidationError) -> str:
    """Return what is wrong; where a name is unknown, with those that are known."""
    known = cast("Mapping[str, Any]", error.schema).get("properties", {})
    if error.validator != "additionalProperties" or not known:
        return error.message
    unknown = [name for name in cast("Mapping[str, Any]", error.instance) if name not in known]
    there = "there is no" if len(unknown) == 1 else "there are no"
    return f"{there} {', '.join(map(repr, unknown))}; known: {', '.join(known)}"


def _short(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:150]} … {message[-100:]}"
