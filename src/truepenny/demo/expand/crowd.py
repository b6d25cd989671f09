"""A larger cluster around an incident: healthy pods on nodes and in namespaces of their own.

Nothing of the incident changes; what is added has `crowd` in its name.
"""

from __future__ import annotations

from typing import Any

from truepenny.errors import UsageError

from .build import Build
from .deployment import expand_deployment
from .node import expand_node
from .plain import expand_namespace

MOST_PODS = 20_000
"""The nodes for more would not fit into the pods' network of one cluster (a /24 each)."""

_NODE_PODS = 100  # a kubelet takes 110 by default
_REPLICAS = 50
_NAMESPACE_PODS = 250


def expand_crowd(build: Build, pods: int) -> None:
    """Add pods until there are so many; raises UsageError for fewer than there are, or too many."""
    there = sum(1 for _ in build.of_kind("Pod"))
    if not there <= pods <= MOST_PODS:
        raise UsageError(
            f"{pods} is not from {there}, which the incident has, to {MOST_PODS}", where="--pods"
        )
    missing = pods - there
    nodes = [f"worker-crowd-{place + 1:03}" for place in range(-(-missing // _NODE_PODS))]
    for place, name in enumerate(nodes):
        address = f"10.0.1.{place + 1}"
        short = {"role": "worker", "address": address, "cpu": "32", "memory": "64Gi"}
        build.node_addresses[name] = address
        expand_node(build, name, short, place + 10)
    for first in range(0, missing, _REPLICAS):
        namespace = f"crowd-{first // _NAMESPACE_PODS + 1:03}"
        if first % _NAMESPACE_PODS == 0:
            expand_namespace(build, namespace, {})
        taken = range(first, min(first + _REPLICAS, missing))
        key = f"{namespace}/part-{first % _NAMESPACE_PODS // _REPLICAS + 1}"
        expand_deployment(build, key, _deployment([nodes[n // _NODE_PODS] for n in taken]))


def _deployment(nodes: list[str]) -> dict[str, Any]:
    """Return the shorthand of a deployment with a pod on each of these nodes."""
    container = {
        "image": "registry.shop.example/crowd/part:1.0.0",
        "port": 8080,
        "env": {"LOG_LEVEL": "info"},
        "requests": {"cpu": "50m", "memory": "64Mi"},
        "limits": {"memory": "128Mi"},
        "readiness": {"path": "/ready", "port": "http"},
    }
    return {
        "kind": "Deployment",
        "replicas": len(nodes),
        "containers": {"part": container},
        "pods": [{"node": node} for node in nodes],
    }
