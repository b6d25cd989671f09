"""What a rule can ask to be read: a kubectl command line, and the groups that lists are read in."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

LOG_LINES = 80
"""Lines asked of one log: a crash says why in its last lines, and the cut is stated as --tail."""

NAMESPACED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "pods": ("pods",),
        "workloads": ("deployments", "replicasets", "statefulsets", "daemonsets"),
        "events": ("events",),
        "network": ("services", "endpointslices", "ingresses"),
        "batch": ("jobs", "cronjobs"),
        "policy": (
            "resourcequotas",
            "limitranges",
            "horizontalpodautoscalers",
            "poddisruptionbudgets",
        ),
        "storage": ("persistentvolumeclaims",),
        "certificates": ("certificates.cert-manager.io",),
    }
)
"""Kinds read together: fewer commands, and one refusal of a kind does not hide the others."""

CLUSTER_WIDE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "nodes": ("nodes",),
        "namespaces": ("namespaces",),
        "classes": ("storageclasses",),
    }
)

GROUP_OF: Mapping[str, str] = MappingProxyType(
    {
        kind: group
        for groups in (NAMESPACED, CLUSTER_WIDE)
        for group, kinds in groups.items()
        for kind in kinds
    }
)
"""The group that a kind is read in."""


@dataclass(frozen=True, slots=True)
class Query:
    """One read. `argv` is without `kubectl`; `why` is shown to people and not part of equality."""

    argv: tuple[str, ...]
    why: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self.argv == other.argv

    def __hash__(self) -> int:
        return hash(self.argv)

    @property
    def command(self) -> str:
        """The line as a person would type it."""
        return command(self.argv)


def command(argv: tuple[str, ...]) -> str:
    """Return a runnable kubectl line."""
    return shlex.join(("kubectl", *argv))


def listing(group: str, namespace: str | None, why: str = "") -> Query:
    """Read all objects of a group; namespace None means all namespaces."""
    if group in CLUSTER_WIDE:
        return Query(("get", ",".join(CLUSTER_WIDE[group]), "-o", "json"), why)
    where = ("-A",) if namespace is None else ("-n", namespace)
    return Query(("get", ",".join(NAMESPACED[group]), *where, "-o", "json"), why)


def single(kind: str, namespace: str | None, why: str = "") -> Query:
    """Read all objects of one kind: what is left when its group was refused as a whole."""
    if GROUP_OF.get(kind, "") in CLUSTER_WIDE:
        return Query(("get", kind, "-o", "json"), why)
    where = ("-A",) if namespace is None else ("-n", namespace)
    return Query(("get", kind, *where, "-o", "json"), why)


def logs(
    namespace: str, pod: str, container: str, *, previous: bool = False, why: str = ""
) -> Query:
    """Read the last lines of one container's log."""
    run = ("--previous",) if previous else ()
    return Query(("logs", pod, "-n", namespace, "-c", container, *run, f"--tail={LOG_LINES}"), why)


def one(kind: str, namespace: str, name: str, why: str = "") -> Query:
    """Read one object."""
    return Query(("get", kind, name, *_within(namespace), "-o", "json"), why)


def describe(kind: str, namespace: str, name: str, why: str = "") -> Query:
    """Describe one object: for Secrets, whose keys and sizes show but never the values."""
    return Query(("describe", kind, name, *_within(namespace)), why)


def _within(namespace: str) -> tuple[str, ...]:
    return ("-n", namespace) if namespace else ()
