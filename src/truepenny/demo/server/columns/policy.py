"""Rows of limits, budgets, priorities, roles, webhooks and API extensions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.columns.common import age, created
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import (
    Object,
    condition,
    dig,
    listing,
    mapping,
    name_of,
    number,
    text,
)

_NOT_SET = "N/A"


def _budget(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        text(value, "spec", "minAvailable", default=_NOT_SET),
        text(value, "spec", "maxUnavailable", default=_NOT_SET),
        number(value, "status", "disruptionsAllowed"),
        age(value, now),
    )


def _quota(value: Object, now: datetime) -> Sequence[Any]:
    used = mapping(value, "status", "used")
    requests: list[str] = []
    limits: list[str] = []
    for resource, hard in sorted(mapping(value, "status", "hard").items()):
        side = limits if resource.startswith("limits.") else requests
        side.append(f"{resource}: {used.get(resource, '0')}/{hard}")
    return name_of(value), ", ".join(requests), ", ".join(limits), age(value, now)


def _dated(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), created(value)


def _priority(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        number(value, "value"),
        "true" if dig(value, "globalDefault") else "false",
        age(value, now),
        text(value, "preemptionPolicy", default="PreemptLowerPriority"),
    )


def _subjects(value: Object, kind: str) -> str:
    found: list[str] = []
    for subject in listing(value, "subjects"):
        if dig(subject, "kind") == kind:
            namespace = text(subject, "namespace")
            name = text(subject, "name")
            found.append(f"{namespace}/{name}" if kind == "ServiceAccount" else name)
    return ", ".join(found)


def _binding(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        f"{text(value, 'roleRef', 'kind')}/{text(value, 'roleRef', 'name')}",
        age(value, now),
        _subjects(value, "User"),
        _subjects(value, "Group"),
        _subjects(value, "ServiceAccount"),
    )


def _webhooks(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), len(listing(value, "webhooks")), age(value, now)


def _api_service(value: Object, now: datetime) -> Sequence[Any]:
    service = mapping(value, "spec", "service")
    available = condition(value, "Available")
    status = text(available, "status") or "Unknown"
    if status != "True" and (reason := text(available, "reason")):
        status = f"{status} ({reason})"
    return (
        name_of(value),
        f"{text(service, 'namespace')}/{text(service, 'name')}" if service else "Local",
        status,
        age(value, now),
    )


_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"
_DATED = Printer(columns("Name,Created At"), _dated)
_BINDING = Printer(columns("Name,Role,Age", "Users,Groups,ServiceAccounts"), _binding)
_WEBHOOKS = Printer(columns("Name,Webhooks#,Age"), _webhooks)

PRINTERS = {
    ("policy", "PodDisruptionBudget"): Printer(
        columns("Name,Min Available,Max Unavailable,Allowed Disruptions#,Age"), _budget
    ),
    ("", "ResourceQuota"): Printer(columns("Name,Request,Limit,Age"), _quota),
    ("", "LimitRange"): _DATED,
    ("scheduling.k8s.io", "PriorityClass"): Printer(
        columns("Name,Value#,Global-Default,Age,PreemptionPolicy"), _priority
    ),
    (_RBAC, "Role"): _DATED,
    (_RBAC, "ClusterRole"): _DATED,
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    ("apiregistration.k8s.io", "APIService"): Printer(
        columns("Name,Service,Available,Age"), _api_service
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _DATED,
}
