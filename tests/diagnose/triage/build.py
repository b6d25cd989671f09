"""Small Kubernetes objects for rule tests; times count back from `world.NOW`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from .world import NOW

Json = dict[str, Any]


def ago(minutes: float) -> str:
    return (NOW - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def meta(name: str, namespace: str = "shop", age: float = 600, **more: Any) -> Json:
    found: Json = {"name": name, "creationTimestamp": ago(age), **more}
    if namespace:
        found["namespace"] = namespace
    return found


def obj(
    kind: str, name: str, namespace: str = "shop", *, metadata: Json | None = None, **body: Any
) -> Json:
    return {"kind": kind, "metadata": meta(name, namespace, **(metadata or {})), **body}


def owned(kind: str, name: str) -> list[Json]:
    return [{"kind": kind, "name": name, "controller": True}]


def conditions(**states: Any) -> list[Json]:
    """`Ready="True"` or `Ready=("False", "Reason", "message")`."""
    found: list[Json] = []
    for kind, state in states.items():
        status, reason, message = (state, "", "") if isinstance(state, str) else state
        found.append(
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": ago(10),
            }
        )
    return found


def waiting(reason: str, message: str = "") -> Json:
    return {"waiting": {"reason": reason, "message": message}}


def ended(code: int, reason: str = "Error", minutes: float = 1, **more: Any) -> Json:
    return {"terminated": {"exitCode": code, "reason": reason, "finishedAt": ago(minutes), **more}}


def pod(
    name: str = "app-7d9f8b6c5d-abcde",
    *,
    owner: tuple[str, str] | None = ("ReplicaSet", "app-7d9f8b6c5d"),
    state: Json | None = None,
    last: Json | None = None,
    restarts: int = 0,
    ready: bool = True,
    phase: str = "Running",
    node: str = "worker-1",
    labels: Mapping[str, str] | None = None,
    container: Json | None = None,
    init: Json | None = None,
    spec: Json | None = None,
    namespace: str = "shop",
    metadata: Json | None = None,
    status: Json | None = None,
) -> Json:
    """A pod of one container `app`; `init` is the status of an init container `prepare`."""
    known = {"labels": dict(labels or {"app": "app"}), **(metadata or {})}
    if owner:
        known["ownerReferences"] = owned(*owner)
    own = {
        "name": "app",
        "image": "registry.test/app:1",
        "ports": [{"name": "http", "containerPort": 8080}],
    }
    found: Json = {
        "kind": "Pod",
        "metadata": meta(name, namespace, **known),
        "spec": {"nodeName": node, "containers": [own | (container or {})], **(spec or {})},
        "status": {
            "phase": phase,
            "podIP": "10.0.0.7",
            "conditions": conditions(Ready="True" if ready else "False"),
            "containerStatuses": [
                {
                    "name": "app",
                    "ready": ready,
                    "restartCount": restarts,
                    "state": state or {"running": {"startedAt": ago(60)}},
                    "lastState": last or {},
                }
            ],
            **(status or {}),
        },
    }
    if init is not None:
        found["spec"]["initContainers"] = [{"name": "prepare", "image": "registry.test/app:1"}]
        found["status"]["initContainerStatuses"] = [{"name": "prepare", "ready": False, **init}]
    return found


def crashing(code: int = 1, reason: str = "Error", **more: Any) -> Json:
    """A pod in CrashLoopBackOff that ended with a code."""
    return pod(
        state=waiting("CrashLoopBackOff", "back-off 5m0s"),
        last=ended(code, reason),
        restarts=7,
        ready=False,
        **more,
    )


def pending(message: str, **more: Any) -> Json:
    """A pod that the scheduler does not place."""
    return pod(
        phase="Pending",
        node="",
        ready=False,
        status={
            "conditions": conditions(PodScheduled=("False", "Unschedulable", message)),
            "containerStatuses": [],
        },
        **more,
    )


def creating(**more: Any) -> Json:
    """A pod whose container is being created."""
    return pod(phase="Pending", ready=False, state=waiting("ContainerCreating"), **more)


def event(
    about: Json,
    reason: str,
    message: str,
    *,
    minutes: float = 1,
    count: int = 3,
    kind: str = "Warning",
) -> Json:
    name, where = about["metadata"]["name"], about["metadata"].get("namespace", "")
    return {
        "kind": "Event",
        "metadata": meta(
            f"{about['metadata']['name']}.{reason.lower()}",
            about["metadata"].get("namespace", "default"),
        ),
        "type": kind,
        "reason": reason,
        "message": message,
        "count": count,
        "lastTimestamp": ago(minutes),
        "involvedObject": {
            "kind": about["kind"],
            "name": name,
            "namespace": where,
        },
    }


def deployment(name: str = "app", replicas: int = 1, ready: int = 1, **status: Any) -> Json:
    return obj(
        "Deployment",
        name,
        spec={"replicas": replicas, "template": {"metadata": {"labels": {"app": name}}}},
        status={"replicas": replicas, "readyReplicas": ready, **status},
    )


def replicaset(
    name: str = "app-7d9f8b6c5d",
    owner: str = "app",
    *,
    revision: str = "1",
    replicas: int = 1,
    have: int = 1,
    memory: str = "",
) -> Json:
    limits = {"limits": {"memory": memory}} if memory else {}
    containers = [{"name": "app", "resources": limits}]
    return obj(
        "ReplicaSet",
        name,
        metadata={
            "ownerReferences": owned("Deployment", owner),
            "annotations": {"deployment.kubernetes.io/revision": revision},
        },
        spec={
            "replicas": replicas,
            "template": {"spec": {"containers": containers}},
        },
        status={"replicas": have},
    )


def service(
    name: str = "app", selector: Mapping[str, str] | None = None, target: Any = 8080, **spec: Any
) -> Json:
    return obj(
        "Service",
        name,
        spec={
            "clusterIP": "10.96.0.9",
            "selector": dict({"app": "app"} if selector is None else selector),
            "ports": [{"port": 80, "targetPort": target}],
            **spec,
        },
    )


def ingress(target: str = "app", port: int = 80) -> Json:
    backend = {"service": {"name": target, "port": {"number": port}}}
    return obj(
        "Ingress",
        "web",
        spec={
            "rules": [{"host": "web.test", "http": {"paths": [{"path": "/", "backend": backend}]}}]
        },
    )


def node(name: str = "worker-1", *, unschedulable: bool = False, **states: Any) -> Json:
    found = obj(
        "Node", name, "", spec={}, status={"conditions": conditions(**({"Ready": "True"} | states))}
    )
    if unschedulable:
        found["spec"]["unschedulable"] = True
    return found
