"""What triage reads of a cluster: everything while it is small, what looks wrong where it is not.

A list of pods in full costs some 10 KB a pod, in kubectl and at the server as well: kubectl alone
takes 100 KB of memory for each. So the table of the pods comes first. Up to `WHOLE_PODS` all are
read; beyond that, the namespaces and pods that look wrong by their row, and what is asked about.
What was judged by its row only is counted, never taken for read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .evidence import Evidence
from .fields import at, labels, name, objects
from .finding import ObjectRef
from .observation import Status
from .query import CLUSTER_WIDE, NAMESPACED, Query, listing
from .survey import PodRow, pods_table, read_pods, troubled

WHOLE_PODS = 1000
"""Pods that are read in full in one investigation: their JSON, some 10 MB, must fit one document,
and redacting it takes 4 seconds."""
SPACE_PODS = 250
"""A namespace of up to so many pods is read as one list, of a larger one single pods are."""
NAMED_PODS = 25
"""Single pods asked for by one command, by name."""
MOST_SPACES = 10
"""Namespaces looked into by themselves; each costs a read, and one more for a list that was cut."""
CUT_SPACES = 3
"""Namespaces in which other lists that were cut are read again: up to 7 groups of kinds each."""

_SLICE_OWNER = "kubernetes.io/service-name"  # the label by which a slice belongs to its Service


class Sweep:
    """Decides what to read of one namespace, or of all (None). Each step looks at the evidence."""

    def __init__(self, namespace: str | None) -> None:
        self._namespace = namespace
        self._table = pods_table(namespace)
        self._whole = listing("pods", namespace)
        self._asked: tuple[str, ...] = ()
        self._subjects: tuple[ObjectRef, ...] = ()

    def first(self) -> list[Query]:
        """Return the reads that begin it."""
        groups = [listing(group, self._namespace) for group in NAMESPACED if group != "pods"]
        return [self._table, *groups, *(listing(group, None) for group in CLUSTER_WIDE)]

    def focus(self, subjects: Sequence[ObjectRef], namespaces: Iterable[str] = ()) -> None:
        """Look at these objects and their namespaces before any other."""
        self._subjects = tuple(subjects)
        spaces = [ref.namespace for ref in subjects if ref.namespace]
        spaces += [ref.name for ref in subjects if ref.kind == "Namespace"]
        self._asked = tuple(dict.fromkeys([*spaces, *namespaces]))

    def follow(self, evidence: Evidence) -> list[Query]:
        """Return what to read next that was not read yet; nothing when the sweep is done."""
        table = evidence.get(self._table)
        if table is None:
            return []
        rows = evidence.rows or read_pods(table.text, self._namespace or "")
        whole = evidence.get(self._whole)
        fits = table.status is not Status.TRUNCATED and len(rows) <= WHOLE_PODS
        if whole is None and (fits or not rows):
            return [self._whole]
        wanted = self._again(evidence, rows)
        # Forbidden is an answer; too large, too slow or cut is not.
        read = whole is not None and whole.status in (
            Status.OK, Status.NO_MATCH, Status.FORBIDDEN,
        )  # fmt: skip
        if rows and not read:
            evidence.rows = tuple(rows)
            wanted = [*self._pods(evidence, rows), *wanted]
        return [query for query in wanted if evidence.get(query) is None]

    def _pods(self, evidence: Evidence, rows: Sequence[PodRow]) -> list[Query]:
        """Choose among the pods: namespaces asked about, then troubled ones, within the budget."""
        sizes = Counter(row.namespace for row in rows)
        spaces = dict.fromkeys([*self._asked, *troubled(rows), *_unserved(evidence)])
        chosen: list[Query] = []
        left = WHOLE_PODS
        for space in [space for space in spaces if space in sizes][:MOST_SPACES]:
            if self._namespace is None and sizes[space] <= min(SPACE_PODS, left):
                left -= sizes[space]
                chosen.append(listing("pods", space, "the namespace has pods that look wrong"))
                continue
            names = [
                row.name
                for row in rows
                if row.namespace == space and (row.suspicious or self._meant(row))
            ][: min(NAMED_PODS, left)]
            left -= len(names)
            if names:
                argv = ("get", "pods", *names, "-n", space, "-o", "json")
                chosen.append(Query(argv, "pods that look wrong by their row"))
        return chosen

    def _meant(self, row: PodRow) -> bool:
        return any(
            ref.namespace == row.namespace
            and (row.name == ref.name or row.name.startswith(f"{ref.name}-"))
            for ref in self._subjects
        )

    def _again(self, evidence: Evidence, rows: Sequence[PodRow]) -> list[Query]:
        """Ask for other lists that were cut in the namespaces that matter most."""
        if self._namespace is not None:
            return []
        cut = [
            group
            for group in NAMESPACED
            if group != "pods"
            and (found := evidence.get(listing(group, None))) is not None
            and found.status is Status.TRUNCATED
        ]
        spaces = list(dict.fromkeys([*self._asked, *troubled(rows)]))[:CUT_SPACES]
        return [
            listing(group, space, "the list of all namespaces was cut")
            for group in cut
            for space in spaces
        ]


def _unserved(evidence: Evidence) -> list[str]:
    """Return the namespaces with a Service for which no endpoint is ready: its pods may look well
    and still not be the ones that it means."""
    ready: set[tuple[str, str]] = set()
    for item in evidence.items("endpointslices"):
        owner = labels(item.obj, "metadata", "labels").get(_SLICE_OWNER, "")
        endpoints = objects(item.obj, "endpoints")
        if any(at(each, "conditions", "ready") is not False for each in endpoints):
            ready.add((item.ref.namespace, owner))
    if not evidence.items("endpointslices"):
        return []
    return sorted(
        {
            item.ref.namespace
            for item in evidence.items("services")
            if labels(item.obj, "spec", "selector")
            and (item.ref.namespace, name(item.obj)) not in ready
        }
    )
