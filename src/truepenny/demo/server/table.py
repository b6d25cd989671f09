"""Tables: the server-side printing that `kubectl get` shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from truepenny.demo.server.value import Object, text

MEDIA = "as=Table;v=v1;g=meta.k8s.io"
"""The part of an Accept header that asks for a table."""

Row = Callable[[Object, datetime], Sequence[Any]]
"""Cells of one object, in column order."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `wide` ones are shown by `-o wide` alone."""

    name: str
    type: str = "string"
    format: str = ""
    wide: bool = False
    description: str = ""

    def to_json(self) -> Object:
        """Return the column definition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description or f"{self.name} of the object.",
            "priority": 1 if self.wide else 0,
        }


@dataclass(frozen=True, slots=True)
class Printer:
    """How one kind is printed."""

    columns: tuple[Column, ...]
    row: Row


def columns(shown: str, wide: str = "") -> tuple[Column, ...]:
    """Build columns from comma-separated names; the first one is the object's name.

    A name that ends in `#` is a column of whole numbers.
    """
    listed = [(name.strip(), False) for name in shown.split(",")]
    listed += [(name.strip(), True) for name in wide.split(",") if name.strip()]
    return tuple(
        Column(
            name.removesuffix("#"),
            "integer" if name.endswith("#") else "string",
            "name" if position == 0 else "",
            is_wide,
        )
        for position, (name, is_wide) in enumerate(listed)
    )


def wants_table(accept: str) -> bool:
    """Say whether the client prefers a table."""
    return MEDIA in accept.replace(" ", "")


def partial(value: Object) -> Object:
    """Return the metadata of an object, as rows carry it by default."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": value.get("metadata", {}),
    }


def table(
    printer: Printer,
    values: Sequence[Object],
    now: datetime,
    *,
    metadata: Object | None = None,
    include: str = "",
) -> Object:
    """Return the Table of these objects.

    `include` is the request's includeObject: `None`, `Object`, or metadata for anything else.
    """
    rows: list[Object] = []
    for value in values:
        row: Object = {"cells": list(printer.row(value, now))}
        if include == "Object":
            row["object"] = value
        elif include != "None":
            row["object"] = partial(value)
        rows.append(row)
    if metadata is None:
        metadata = {
            "resourceVersion": text(values[0], "metadata", "resourceVersion") if values else ""
        }
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.to_json() for column in printer.columns],
        "rows": rows,
    }
