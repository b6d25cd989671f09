"""One lookup from a kind to its printer."""

from __future__ import annotations

from collections.abc import Sequence

from truepenny.demo.server.columns import (
    config,
    event,
    network,
    node,
    pod,
    policy,
    storage,
    workload,
)
from truepenny.demo.server.columns.custom import custom_printer
from truepenny.demo.server.kind import Kind
from truepenny.demo.server.table import Printer
from truepenny.demo.server.value import Object

PRINTERS: dict[tuple[str, str], Printer] = {
    **config.PRINTERS,
    **event.PRINTERS,
    **network.PRINTERS,
    **node.PRINTERS,
    **pod.PRINTERS,
    **policy.PRINTERS,
    **storage.PRINTERS,
    **workload.PRINTERS,
}
"""(group, kind) -> printer, for every kind that is not a custom resource."""


def printer(kind: Kind, definitions: Sequence[Object]) -> Printer:
    """Return how a kind is printed; custom kinds print what their definition declares."""
    return PRINTERS.get((kind.group, kind.kind)) or custom_printer(kind, definitions)
