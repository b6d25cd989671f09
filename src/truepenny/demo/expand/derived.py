"""Status that a controller computes from pods: quotas, disruption budgets, autoscalers.

What an incident writes into `status` itself stays; only what is missing is filled in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from truepenny.demo.quantity import milli, plain_bytes, write_bytes, write_milli

from .build import Build, Object
from .pod import is_ready
from .service import selected


def expand_derived(build: Build) -> None:
    """Fill in the status of every quota, disruption budget and autoscaler."""
    for quota in build.of_kind("ResourceQuota"):
        _quota(build, quota)
    for budget in build.of_kind("PodDisruptionBudget"):
        _budget(build, budget)
    for scaler in build.of_kind("HorizontalPodAutoscaler"):
        _scaler(build, scaler)


def _quota(build: Build, quota: Object) -> None:
    namespace: str = quota["metadata"]["namespace"]
    hard: dict[str, str] = quota["spec"]["hard"]
    pods = [
        pod
        for pod in build.of_kind("Pod", namespace)
        if pod["status"].get("phase") not in ("Succeeded", "Failed")
    ]
    used = {name: _used(build, namespace, pods, name) for name in hard}
    quota["status"] = {"hard": hard, "used": used} | quota.get("status", {})


def _used(build: Build, namespace: str, pods: list[Object], name: str) -> str:
    if name == "pods":
        return str(len(pods))
    if name in ("services", "configmaps", "secrets", "persistentvolumeclaims"):
        kinds = {
            "services": "Service",
            "configmaps": "ConfigMap",
            "secrets": "Secret",
            "persistentvolumeclaims": "PersistentVolumeClaim",
        }
        return str(sum(1 for _ in build.of_kind(kinds[name], namespace)))
    field, _, resource = name.rpartition(".")
    amounts = list(_amounts(pods, field or "requests", resource))
    if resource == "cpu":
        return write_milli(sum(map(milli, amounts)))
    return write_bytes(sum(map(plain_bytes, amounts)))


def _amounts(pods: Iterable[Object], field: str, resource: str) -> Iterable[str]:
    for pod in pods:
        for one in pod["spec"]["containers"]:
            amount = one["resources"].get(field, {}).get(resource)
            if amount:
                yield amount


def _budget(build: Build, budget: Object) -> None:
    spec, meta = budget["spec"], budget["metadata"]
    pods = selected(build, meta["namespace"], spec["selector"]["matchLabels"])
    alive = [pod for pod in pods if pod["status"].get("phase") not in ("Succeeded", "Failed")]
    healthy = sum(is_ready(pod) for pod in alive)
    if "minAvailable" in spec:
        wanted = _share(spec["minAvailable"], len(alive))
    else:
        wanted = len(alive) - _share(spec["maxUnavailable"], len(alive))
    allowed = max(healthy - wanted, 0)
    enough = allowed > 0
    budget["status"] = {
        "observedGeneration": 1,
        "currentHealthy": healthy,
        "desiredHealthy": wanted,
        "expectedPods": len(alive),
        "disruptionsAllowed": allowed,
        "conditions": [
            {
                "type": "DisruptionAllowed",
                "status": "True" if enough else "False",
                "observedGeneration": 1,
                "lastTransitionTime": meta["creationTimestamp"],
                "reason": "SufficientPods" if enough else "InsufficientPods",
                "message": "",
            }
        ],
    } | budget.get("status", {})


def _share(value: int | str, total: int) -> int:
    if isinstance(value, int):
        return value
    return -(-total * int(value.removesuffix("%")) // 100)


def _scaler(build: Build, scaler: Object) -> None:
    target = scaler["spec"]["scaleTargetRef"]
    found = build.objects.get(
        f"{target['kind']}/{scaler['metadata']['namespace']}/{target['name']}"
    )
    replicas: Any = found["spec"]["replicas"] if found else 0
    status = scaler.setdefault("status", {})
    status.setdefault("currentReplicas", replicas)
    status.setdefault("desiredReplicas", replicas)
