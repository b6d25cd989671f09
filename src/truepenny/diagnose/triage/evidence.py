"""The store of what was read: rules look things up here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from .fields import Object, name, namespace, text
from .finding import ObjectRef
from .observation import Observation, Status
from .query import CLUSTER_WIDE, GROUP_OF, Query, listing, single
from .survey import PodRow

_PLURALS = {
    "Pod": "pods", "Deployment": "deployments", "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets", "DaemonSet": "daemonsets", "Event": "events",
    "Service": "services", "EndpointSlice": "endpointslices", "Ingress": "ingresses",
    "Job": "jobs", "CronJob": "cronjobs", "ResourceQuota": "resourcequotas",
    "LimitRange": "limitranges", "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Certificate": "certificates.cert-manager.io", "Node": "nodes", "Namespace": "namespaces",
    "StorageClass": "storageclasses",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """One object and the read it came from."""

    obj: Object
    source: Observation

    @property
    def ref(self) -> ObjectRef:
        """The object's identity."""
        return ObjectRef(text(self.obj, "kind"), namespace(self.obj), name(self.obj))


@dataclass(slots=True)
class Evidence:
    """Everything read from one cluster; ages are measured against `now`, in UTC."""

    now: datetime
    rows: tuple[PodRow, ...] = ()
    """The table of pods, where it stands for a list that is too large to be read."""
    _reads: dict[tuple[str, ...], Observation] = field(
        default_factory=dict[tuple[str, ...], Observation]
    )
    _items: dict[tuple[str, str], list[Item]] = field(
        default_factory=dict[tuple[str, str], list[Item]]
    )
    _seen: dict[ObjectRef, str] = field(default_factory=dict[ObjectRef, str])

    def add(self, observation: Observation) -> None:
        """Store one answer; a second answer to the same read is ignored."""
        if observation.argv in self._reads:
            return
        self._reads[observation.argv] = observation
        for obj in observation.objects:
            item = Item(obj, observation)
            plural = _PLURALS.get(item.ref.kind)
            if plural is None or item.ref in self._seen:
                continue
            self._seen[item.ref] = observation.id
            self._items.setdefault((plural, item.ref.namespace), []).append(item)

    @property
    def by_row(self) -> list[PodRow]:
        """The pods of which nothing was read but their row."""
        return [row for row in self.rows if _pod(row) not in self._seen]

    def get(self, query: Query) -> Observation | None:
        """Return the answer to a read, or None when it was not made yet."""
        return self._reads.get(query.argv)

    @property
    def reads(self) -> tuple[Observation, ...]:
        """All answers in the order they came."""
        return tuple(self._reads.values())

    def items(self, kind: str, within: str | None = None) -> list[Item]:
        """Return what was read of a kind (plural, lower case), in one namespace or in all."""
        if within is not None:
            return list(self._items.get((kind, within), ()))
        return [item for key, found in self._items.items() if key[0] == kind for item in found]

    def find(self, ref: ObjectRef) -> Item | None:
        """Return one object if it was read."""
        plural = _PLURALS.get(ref.kind, "")
        for item in self._items.get((plural, ref.namespace), ()):
            if item.ref == ref:
                return item
        return None

    def status(self, kind: str, within: str) -> Status | None:
        """How the list of a kind in a namespace was answered; None when it was not asked for."""
        found: Status | None = None
        for observation in self._covering(kind, within):
            if kind in observation.unsure:
                found = Status.FORBIDDEN
                continue
            found = observation.absent.get(kind.split(".")[0], observation.status)
            if found.readable:
                return found
        return found

    def _covering(self, kind: str, within: str) -> Iterator[Observation]:
        group = GROUP_OF.get(kind, "")
        places = (None,) if group in CLUSTER_WIDE else (within, None)
        for place in places:
            for query in (listing(group, place), single(kind, place)) if group else ():
                found = self.get(query)
                if found is not None:
                    yield found


def _pod(row: PodRow) -> ObjectRef:
    return ObjectRef("Pod", row.namespace, row.name)
