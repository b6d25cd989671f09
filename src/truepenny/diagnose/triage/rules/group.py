"""Replicas of one workload fail alike: rules look at one of them and count the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from truepenny.diagnose.triage.case import Case
from truepenny.diagnose.triage.container import Container, containers, running
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import text
from truepenny.diagnose.triage.finding import ObjectRef


@dataclass(frozen=True, slots=True)
class Group:
    """One container of a workload in which replicas show a state; `item` is the newest such pod."""

    owner: ObjectRef
    item: Item
    container: Container
    count: int


def grouped(case: Case, shows: Callable[[Container], bool]) -> Iterator[Group]:
    """Yield one group per workload and container whose pods show the state."""
    found: dict[tuple[ObjectRef, str], list[tuple[Item, Container]]] = {}
    for item in case.all("pods"):
        if not running(item.obj):
            continue
        for container in containers(item.obj):
            if shows(container):
                key = (case.owner(item.obj), container.name)
                found.setdefault(key, []).append((item, container))
    for (owner, _), members in found.items():
        members.sort(
            key=lambda pair: text(pair[0].obj, "metadata", "creationTimestamp"), reverse=True
        )
        item, container = members[0]
        yield Group(owner, item, container, len(members))


def pods_where(case: Case, shows: Callable[[Item], bool]) -> Iterator[tuple[ObjectRef, list[Item]]]:
    """Yield the workloads whose pods show a state, with those pods, newest first."""
    found: dict[ObjectRef, list[Item]] = {}
    for item in case.all("pods"):
        if shows(item):
            found.setdefault(case.owner(item.obj), []).append(item)
    for owner, items in found.items():
        items.sort(key=lambda one: text(one.obj, "metadata", "creationTimestamp"), reverse=True)
        yield owner, items
