"""Rows of nodes, namespaces, leases and measurements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.columns.common import NONE, age
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import (
    Object,
    condition,
    dig,
    listing,
    mapping,
    name_of,
    text,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def _status(value: Object) -> str:
    ready = text(condition(value, "Ready"), "status")
    word = {"True": "Ready", "": "Unknown"}.get(ready, "NotReady")
    return f"{word},SchedulingDisabled" if dig(value, "spec", "unschedulable") else word


def _roles(value: Object) -> str:
    found: set[str] = set()
    for key, content in mapping(value, "metadata", "labels").items():
        if key.startswith(_ROLE_PREFIX):
            found.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE_LABEL and content:
            found.add(str(content))
    return ",".join(sorted(found)) or NONE


def _address(value: Object, kind: str) -> str:
    for address in listing(value, "status", "addresses"):
        if dig(address, "type") == kind:
            return text(address, "address")
    return NONE


def _info(value: Object, field: str) -> str:
    return text(value, "status", "nodeInfo", field) or "<unknown>"


def _node(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        _status(value),
        _roles(value),
        age(value, now),
        text(value, "status", "nodeInfo", "kubeletVersion"),
        _address(value, "InternalIP"),
        _address(value, "ExternalIP"),
        _info(value, "osImage"),
        _info(value, "kernelVersion"),
        _info(value, "containerRuntimeVersion"),
    )


def _namespace(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), text(value, "status", "phase"), age(value, now)


def _lease(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), text(value, "spec", "holderIdentity"), age(value, now)


def _node_metrics(value: Object, now: datetime) -> Sequence[Any]:
    usage = mapping(value, "usage")
    return name_of(value), text(usage, "cpu"), text(usage, "memory"), text(value, "window")


def _pod_metrics(value: Object, now: datetime) -> Sequence[Any]:
    used = [mapping(container, "usage") for container in listing(value, "containers")]
    return (
        name_of(value),
        ",".join(text(usage, "cpu") for usage in used),
        ",".join(text(usage, "memory") for usage in used),
        text(value, "window"),
    )


_USAGE = columns("Name,CPU,Memory,Window")

PRINTERS = {
    ("", "Node"): Printer(
        columns(
            "Name,Status,Roles,Age,Version",
            "Internal-IP,External-IP,OS-Image,Kernel-Version,Container-Runtime",
        ),
        _node,
    ),
    ("", "Namespace"): Printer(columns("Name,Status,Age"), _namespace),
    ("coordination.k8s.io", "Lease"): Printer(columns("Name,Holder,Age"), _lease),
    ("metrics.k8s.io", "NodeMetrics"): Printer(_USAGE, _node_metrics),
    ("metrics.k8s.io", "PodMetrics"): Printer(_USAGE, _pod_metrics),
}
