"""The world while it is being built: objects so far, addresses given out, what happened when."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from truepenny.demo import identity
from truepenny.demo.timeline import Timeline, duration
from truepenny.errors import ConfigurationError

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as JSON."""

WORLD_AGE = "92d"
"""How old the cluster is, and so everything that does not say otherwise."""

EVENT_LIFE = timedelta(hours=1)
"""A real API server forgets an event after an hour (`--event-ttl`)."""

_NAME = re.compile(r"\{(pod|podip|node|svcip|rs) ([^ {}]+)(?: (\d+))?\}")


class Build:
    """Collects the objects of one world; each expander adds to it."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.objects: dict[str, Object] = {}
        self.pods_of: dict[str, list[Object]] = {}
        """Pods by `namespace/workload`, in the order of the shorthand."""
        self.node_addresses: dict[str, str] = {}
        self._given: dict[str, int] = {}

    def meta(
        self,
        kind: str,
        namespace: str,
        name: str,
        age: str | timedelta = WORLD_AGE,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        owner: Object | None = None,
    ) -> Object:
        """Return metadata; `owner` is the controlling object."""
        meta: Object = {"name": name}
        if namespace:
            meta["namespace"] = namespace
        meta["uid"] = identity.uid(f"{kind}/{namespace}/{name}")
        meta["creationTimestamp"] = self.timeline.stamp(age)
        if labels:
            meta["labels"] = dict(labels)
        if annotations:
            meta["annotations"] = dict(annotations)
        if owner is not None:
            meta["ownerReferences"] = [
                {
                    "apiVersion": owner["apiVersion"],
                    "kind": owner["kind"],
                    "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ]
        return meta

    def add(self, item: Object) -> Object:
        """Keep an object; one with the same kind, namespace and name is replaced."""
        self.objects[key_of(item)] = item
        return item

    def of_kind(self, kind: str, namespace: str | None = None) -> Iterator[Object]:
        """Walk the objects of a kind, in the order in which they were added."""
        for item in list(self.objects.values()):
            if item["kind"] == kind and namespace in (None, item["metadata"].get("namespace")):
                yield item

    def find(self, reference: str) -> Object:
        """Return the object named `Kind/namespace/name` or `Kind/name`.

        `Pod/shop/checkout[0]` is the first pod of that workload, and `ReplicaSet/shop/checkout[]`
        the newest replica set of that deployment. Raises ConfigurationError for anything unknown.
        """
        reference = self.names(reference)
        kind, _, rest = reference.partition("/")
        match = re.fullmatch(r"(.+)\[(\d*)\]", rest)
        if match and kind == "Pod":
            return self.pod(match[1], int(match[2] or 0))
        if match and kind == "ReplicaSet":
            return self.newest_replica_set(match[1])
        key = reference if rest.count("/") else f"{kind}//{rest}"
        if key not in self.objects:
            raise ConfigurationError(f"the world has no {reference}")
        return self.objects[key]

    def pod(self, workload: str, index: int = 0) -> Object:
        """Return a pod of `namespace/workload` by its position."""
        pods = self.pods_of.get(workload, [])
        if index >= len(pods):
            raise ConfigurationError(f"{workload} has {len(pods)} pods, none at {index}")
        return pods[index]

    def newest_replica_set(self, workload: str) -> Object:
        """Return the replica set with the highest revision of `namespace/deployment`."""
        namespace, _, name = workload.partition("/")
        owned = [
            item
            for item in self.of_kind("ReplicaSet", namespace)
            if item["metadata"]["ownerReferences"][0]["name"] == name
        ]
        if not owned:
            raise ConfigurationError(f"{workload} has no replica set")
        return max(owned, key=revision_of)

    def names(self, text: str) -> str:
        """Fill in `{pod shop/checkout 0}`, `{podip …}`, `{node …}`, `{rs …}`, `{svcip shop/x}`."""

        def fill(match: re.Match[str]) -> str:
            what, workload, index = match[1], match[2], int(match[3] or 0)
            if what == "svcip":
                return str(self.find(f"Service/{workload}")["spec"]["clusterIP"])
            if what == "rs":
                return str(self.newest_replica_set(workload)["metadata"]["name"])
            pod = self.pod(workload, index)
            if what == "pod":
                return str(pod["metadata"]["name"])
            if what == "podip":
                return str(pod["status"].get("podIP", ""))
            return str(pod["spec"].get("nodeName", ""))

        return _NAME.sub(fill, text) if "{" in text else text

    def pod_address(self, node: str) -> str:
        """Give out the next pod address of a node (one /24 a node)."""
        self._given[node] = self._given.get(node, 1) + 1
        place = sorted(self.node_addresses).index(node) if node in self.node_addresses else 9
        return f"10.244.{place}.{self._given[node]}"


def key_of(item: Mapping[str, Any]) -> str:
    """Return `Kind/namespace/name`; the namespace is empty for cluster-wide objects."""
    meta = item["metadata"]
    return f"{item['kind']}/{meta.get('namespace', '')}/{meta['name']}"


def revision_of(item: Mapping[str, Any]) -> int:
    """Return a replica set's rollout revision."""
    return int(item["metadata"]["annotations"]["deployment.kubernetes.io/revision"])


def age(value: str | timedelta | None, default: str | timedelta) -> timedelta:
    """Return an age from shorthand, or the default."""
    chosen = default if value is None else value
    return duration(chosen) if isinstance(chosen, str) else chosen
