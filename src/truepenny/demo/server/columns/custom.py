"""Rows of custom resources, from the printer columns that their definition declares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.age import since
from truepenny.demo.server.columns.common import age
from truepenny.demo.server.kind import Kind
from truepenny.demo.server.table import Column, Printer, columns
from truepenny.demo.server.value import Object, dig, listing, name_of, number, text

_STEP = re.compile(
    r"""\.(?P<key>(?:[^.\[\\]|\\.)+)
      | \[\?\(@\.(?P<field>[\w.-]+)\s*==\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)\)\]
      | \[(?P<index>-?\d+|\*)\]
      | \['(?P<quoted>[^']+)'\]""",
    re.VERBOSE,
)


def follow(value: Any, path: str) -> Any:
    """Read a JSONPath of the kind printer columns use; None where nothing is there.

    Understood: keys (`\\.` escapes a dot), indexes, `[*]` and one equality filter per step.
    """
    found = [value]
    position = 0
    for step in _STEP.finditer(path):
        if step.start() != position:
            return None
        position = step.end()
        found = [taken for item in found for taken in _take(item, step)]
    if position != len(path) or not found:
        return None
    return found[0] if len(found) == 1 else ",".join(str(item) for item in found)


def _take(item: Any, step: re.Match[str]) -> list[Any]:
    if field := step["field"]:
        keys = field.split(".")
        return [e for e in listing(item) if text(e, *keys) == step["value"]]
    if index := step["index"]:
        if index == "*":
            return listing(item)
        entry = dig(item, int(index))
        return [] if entry is None else [entry]
    key = step["quoted"] or re.sub(r"\\(.)", r"\1", step["key"])
    entry = dig(item, key)
    return [] if entry is None else [entry]


def _plain(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), age(value, now)


def custom_printer(kind: Kind, definitions: Sequence[Object]) -> Printer:
    """Return the printer of a custom kind; name and age where it declares no columns."""
    declared: list[Object] = []
    for definition in definitions:
        spec = definition.get("spec", {})
        if text(spec, "group") != kind.group or text(spec, "names", "plural") != kind.plural:
            continue
        for version in listing(spec, "versions"):
            if text(version, "name") == kind.version:
                declared = listing(version, "additionalPrinterColumns")
    if not declared:
        return Printer(columns("Name,Age"), _plain)
    shown = tuple(
        Column(
            text(column, "name"),
            text(column, "type", default="string"),
            text(column, "format"),
            number(column, "priority") > 0,
            text(column, "description"),
        )
        for column in declared
    )
    paths = [
        (text(column, "jsonPath"), text(column, "type", default="string")) for column in declared
    ]

    def row(value: Object, now: datetime) -> Sequence[Any]:
        return name_of(value), *(_cell(value, path, type_, now) for path, type_ in paths)

    return Printer((Column("Name", format="name"), *shown), row)


def _cell(value: Object, path: str, kind: str, now: datetime) -> Any:
    found = follow(value, path)
    if found is None:
        return None
    if kind == "date":
        return since(found, now)
    return found if kind in ("integer", "number", "boolean") else str(found)
