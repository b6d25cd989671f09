"""Deployments with a replica set for each revision; shorthand as in `workload`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from truepenny.demo import identity
from truepenny.demo.merge import merged

from .build import Build, Object, age
from .event import record
from .pod import expand_pod, is_gone, is_ready
from .template import pod_template
from .workload import base_of, pod_entries, revisions_of

_REVISION = "deployment.kubernetes.io/revision"
_CAUSE = "kubernetes.io/change-cause"
_DEADLINE = timedelta(seconds=600)  # progressDeadlineSeconds, the API server's default
_USUAL_AGE = timedelta(days=9)  # of a pod whose revision is older: the last node maintenance


def expand_deployment(build: Build, key: str, short: dict[str, Any]) -> None:
    """Add the deployment `namespace/name`, a replica set a revision, and the pods."""
    namespace = key.partition("/")[0]
    replicas: int = short.get("replicas", 2)
    deployment = base_of(build, key, short)
    revisions = revisions_of(short)
    deployment["metadata"].setdefault("annotations", {})[_REVISION] = str(len(revisions))
    if "cause" in revisions[-1]:
        deployment["metadata"]["annotations"][_CAUSE] = revisions[-1]["cause"]
    deployment["metadata"]["generation"] = len(revisions)
    deployment["spec"] = {
        "replicas": replicas,
        **deployment["spec"],
        "strategy": short.get(
            "strategy",
            {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
            },
        ),
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": int(_DEADLINE.total_seconds()),
    }
    build.add(deployment)
    sets = [_replica_set(build, deployment, short, nth) for nth in range(len(revisions))]
    pods: list[Object] = []
    for index, entry in enumerate(pod_entries(build, short, replicas)):
        revision: int = entry.get("revision", len(sets))
        owner = sets[revision - 1]
        set_name: str = owner["metadata"]["name"]
        pod_name = f"{set_name}-{identity.letters(f'{set_name}{index}', 5)}"
        born = min(age(revisions[revision - 1]["at"], "0s"), _USUAL_AGE)
        entry = {"age": born - timedelta(seconds=1 + index), **entry}
        pods.append(expand_pod(build, owner, namespace, pod_name, owner["spec"]["template"], entry))
    build.pods_of[key] = pods
    missing = max(replicas - sum(not is_gone(pod) for pod in pods), 0)
    for nth, one in enumerate(sets):
        last = nth == len(sets) - 1
        owned = [pod for pod in pods if _owner(pod) == one["metadata"]["name"]]
        _replica_set_status(build, one, owned, missing if last else 0)
        if last and "refused" in short:
            _refuse(build, deployment, one, short, age(revisions[-1]["at"], "0s"))
    _scaling_events(build, deployment, sets, revisions)
    _deployment_status(build, deployment, sets[-1], pods, short, revisions)


def _owner(pod: Object) -> str:
    return str(pod["metadata"]["ownerReferences"][0]["name"])


def _replica_set(build: Build, deployment: Object, short: dict[str, Any], nth: int) -> Object:
    meta = deployment["metadata"]
    namespace, name = meta["namespace"], meta["name"]
    revision = revisions_of(short)[nth]
    then = merged(short, revision.get("was", {}))
    labels = dict(deployment["spec"]["template"]["metadata"]["labels"])
    template = pod_template(then, labels)
    digest = identity.letters(f"{namespace}/{name}/{template}", 10)
    template["metadata"]["labels"] = labels | {"pod-template-hash": digest}
    annotations = {
        "deployment.kubernetes.io/desired-replicas": str(deployment["spec"]["replicas"]),
        "deployment.kubernetes.io/max-replicas": str(deployment["spec"]["replicas"] + 1),
        _REVISION: str(nth + 1),
    }
    if "cause" in revision:
        annotations[_CAUSE] = revision["cause"]
    selector = deployment["spec"]["selector"]["matchLabels"] | {"pod-template-hash": digest}
    return build.add(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": build.meta(
                "ReplicaSet", namespace, f"{name}-{digest}", age(revision["at"], "0s"),
                labels=template["metadata"]["labels"], annotations=annotations, owner=deployment,
            ),
            "spec": {"replicas": 0, "selector": {"matchLabels": selector}, "template": template},
            "status": {"replicas": 0, "observedGeneration": 1},
        }
    )  # fmt: skip


def _replica_set_status(build: Build, one: Object, owned: list[Object], missing: int) -> None:
    alive = [pod for pod in owned if not is_gone(pod)]
    one["spec"]["replicas"] = len(alive) + missing
    status: Object = {"replicas": len(alive), "observedGeneration": 1}
    ready = sum(is_ready(pod) for pod in alive)
    if alive:
        status["fullyLabeledReplicas"] = len(alive)
    if ready:
        status |= {"readyReplicas": ready, "availableReplicas": ready}
    one["status"] = status


def _refuse(
    build: Build, deployment: Object, one: Object, short: dict[str, Any], since: timedelta
) -> None:
    message = short["refused"]
    first = age(short.get("refused_since"), since)
    condition = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": message,
        "lastTransitionTime": build.timeline.stamp(first),
    }
    one["status"]["conditions"] = [condition]
    deployment["status"]["conditions"] = [
        condition | {"lastUpdateTime": condition["lastTransitionTime"]}
    ]
    record(
        build, one, "FailedCreate", f"Error creating: {message}", warning=True,
        first=first, last=min(first, timedelta(seconds=52)), count=short.get("refusals", 17),
    )  # fmt: skip


def _scaling_events(
    build: Build, deployment: Object, sets: list[Object], revisions: list[dict[str, Any]]
) -> None:
    at = age(revisions[-1]["at"], "0s")
    new = sets[-1]
    count = new["spec"]["replicas"]
    message = f"Scaled up replica set {new['metadata']['name']} from 0 to {count}"
    record(build, deployment, "ScalingReplicaSet", message, first=at)
    if len(sets) > 1:
        old = sets[-2]
        was = deployment["spec"]["replicas"]
        left = old["spec"]["replicas"]
        if left < was:
            message = f"Scaled down replica set {old['metadata']['name']} from {was} to {left}"
            later = max(at - timedelta(seconds=14), timedelta())
            record(build, deployment, "ScalingReplicaSet", message, first=later)


def _deployment_status(
    build: Build, deployment: Object, newest: Object, pods: list[Object], short: dict[str, Any],
    revisions: list[dict[str, Any]],
) -> None:  # fmt: skip
    alive = [pod for pod in pods if not is_gone(pod)]
    ready = sum(is_ready(pod) for pod in alive)
    updated = sum(_owner(pod) == newest["metadata"]["name"] for pod in alive)
    wanted: int = deployment["spec"]["replicas"]
    status: Object = {"observedGeneration": deployment["metadata"]["generation"]}
    counts = {
        "replicas": len(alive),
        "updatedReplicas": updated,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(wanted, len(alive)) - ready,
    }
    status |= {name: count for name, count in counts.items() if count}
    at = age(revisions[-1]["at"], "0s")
    born = age(short.get("age"), "92d")
    enough = ready >= wanted - wanted // 4
    changed = build.timeline.stamp(born if enough else age(short.get("down"), at))
    available = {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": "Deployment has minimum availability."
        if enough
        else "Deployment does not have minimum availability.",
        "lastUpdateTime": changed,
        "lastTransitionTime": changed,
    }
    set_name = newest["metadata"]["name"]
    words = {
        "complete": ("True", "NewReplicaSetAvailable", "has successfully progressed."),
        "progressing": ("True", "ReplicaSetUpdated", "is progressing."),
        "stuck": ("False", "ProgressDeadlineExceeded", "has timed out progressing."),
    }
    rollout = short.get("rollout", "complete")
    held, reason, words_after = words[rollout]
    progressing = {
        "type": "Progressing",
        "status": held,
        "reason": reason,
        "message": f'ReplicaSet "{set_name}" {words_after}',
        "lastUpdateTime": build.timeline.stamp(
            at - _DEADLINE if rollout == "stuck" else max(at - timedelta(seconds=25), timedelta())
        ),
        "lastTransitionTime": build.timeline.stamp(at - _DEADLINE if rollout == "stuck" else born),
    }
    refusals = deployment["status"].get("conditions", [])
    status["conditions"] = [available, progressing, *refusals]
    deployment["status"] = status
