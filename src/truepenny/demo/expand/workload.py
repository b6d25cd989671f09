"""Deployments, stateful sets and daemon sets with their history, pods and status.

    {kind, replicas, age, labels, annotations, strategy, TEMPLATE…,
     revisions: [{at: AGE, cause: TEXT, was: {differences to the current template}}, …],
     rollout: complete | progressing | stuck, down: AGE, pod: {…}, pods: [{…}, …], claims: {…},
     headless: NAME, refused: MESSAGE}

The last revision is the current template, so it has no `was`; without revisions there is one, as
old as the workload. `pods` describes each pod (see `pod`), `pod` what they share. Without `pods`
there are `replicas` of them, spread over the workers. `down` is since when it is unavailable.
`refused` is why the API server refuses new pods: then the missing pods have an event each try.
"""

from __future__ import annotations

from typing import Any

from truepenny.demo.merge import merged

from .build import WORLD_AGE, Build, Object, age
from .keys import check
from .template import pod_template


def base_of(build: Build, key: str, short: dict[str, Any]) -> Object:
    """Return the workload without replicas, history and status."""
    check("workload", short, key)
    namespace, _, name = key.partition("/")
    kind = short["kind"]
    labels = {"app": name, **short.get("labels", {})}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": build.meta(
            kind, namespace, name, age(short.get("age"), "92d"), labels=labels,
            annotations=short.get("annotations"),
        ),
        "spec": {
            "selector": {"matchLabels": short.get("selector", {"app": name})},
            "template": pod_template(short, labels),
        },
        "status": {},
    }  # fmt: skip


def pod_entries(build: Build, short: dict[str, Any], replicas: int) -> list[dict[str, Any]]:
    """Return the shorthand of each pod, spread over the workers where it names no node."""
    shared = short.get("pod", {})
    pods: list[dict[str, Any]] = short.get("pods", [{} for _ in range(replicas)])
    workers = [name for name in sorted(build.node_addresses) if "worker" in name]
    spread = [
        {"node": workers[index % len(workers)]} if "unschedulable" not in {**shared, **pod} else {}
        for index, pod in enumerate(pods)
    ]
    return [merged(merged(place, shared), pod) for place, pod in zip(spread, pods, strict=True)]


def revisions_of(short: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the history, oldest first; a workload without one has its first revision alone."""
    return short.get("revisions") or [{"at": short.get("age", WORLD_AGE)}]
