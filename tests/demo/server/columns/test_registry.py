"""The printers and the served kinds name each other."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.demo.practice import make
from truepenny.demo.server.columns.registry import PRINTERS
from truepenny.demo.server.kind import KINDS, METRICS_KINDS


def test_each_kind_has_a_printer_and_each_printer_a_kind() -> None:
    assert {(kind.group, kind.kind) for kind in (*KINDS, *METRICS_KINDS)} == set(PRINTERS)


def test_a_bare_object_prints_as_many_cells_as_columns() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    for key, printer in PRINTERS.items():
        cells = printer.row(make(key[1], "bare"), now)
        assert len(cells) == len(printer.columns), key
        for column, cell in zip(printer.columns, cells, strict=True):
            assert isinstance(cell, int if column.type == "integer" else str), (key, column.name)
