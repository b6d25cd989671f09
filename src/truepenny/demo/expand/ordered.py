"""Stateful sets and daemon sets; their history is ControllerRevisions, shorthand as `workload`."""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from typing import Any

from truepenny.demo import identity
from truepenny.demo.merge import merged

from .build import Build, Object, age
from .pod import expand_pod, is_ready
from .template import pod_template
from .workload import base_of, pod_entries, revisions_of

_CAUSE = "kubernetes.io/change-cause"
_USUAL_AGE = timedelta(days=9)  # of a pod whose revision is older: the last node maintenance


def expand_ordered(build: Build, key: str, short: dict[str, Any]) -> None:
    """Add a stateful set or a daemon set; both keep their history as ControllerRevisions."""
    namespace, _, name = key.partition("/")
    item = base_of(build, key, short)
    revisions = revisions_of(short)
    item["metadata"]["generation"] = len(revisions)
    build.add(item)
    digests = [_history(build, item, short, revisions, nth) for nth in range(len(revisions))]
    stateful = short["kind"] == "StatefulSet"
    nodes = sorted(build.node_addresses)
    replicas = short.get("replicas", 1) if stateful else len(nodes)
    spread = pod_entries(build, short, replicas)
    pods: list[Object] = []
    for index, entry in enumerate(spread):
        entry = {"age": min(age(revisions[-1]["at"], "0s"), _USUAL_AGE), **entry}
        if not stateful and "node" not in short.get("pod", {}):
            given = short.get("pods", [{}] * len(spread))[index]
            entry["node"] = given.get("node", nodes[index % len(nodes)])
        template = deepcopy(item["spec"]["template"])
        template["metadata"]["labels"] |= {"controller-revision-hash": digests[-1]}
        suffix = str(index) if stateful else identity.letters(f"{key}{index}", 5)
        if stateful:
            template["metadata"]["labels"] |= {
                "statefulset.kubernetes.io/pod-name": f"{name}-{index}",
                "apps.kubernetes.io/pod-index": str(index),
            }
            entry["claims"] = {
                claim: f"{claim}-{name}-{index}" for claim in short.get("claims", {})
            }
        pods.append(expand_pod(build, item, namespace, f"{name}-{suffix}", template, entry))
    build.pods_of[key] = pods
    _ordered_status(item, short, pods, digests[-1], replicas)


def _history(
    build: Build, item: Object, short: dict[str, Any], revisions: list[dict[str, Any]], nth: int
) -> str:
    meta = item["metadata"]
    template = pod_template(
        merged(short, revisions[nth].get("was", {})), item["spec"]["template"]["metadata"]["labels"]
    )
    digest = identity.letters(f"{meta['namespace']}/{meta['name']}/{template}", 10)
    annotations = {_CAUSE: revisions[nth]["cause"]} if "cause" in revisions[nth] else None
    build.add(
        {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": build.meta(
                "ControllerRevision", meta["namespace"], f"{meta['name']}-{digest}",
                age(revisions[nth]["at"], "0s"), owner=item, annotations=annotations,
                labels={**meta["labels"], "controller-revision-hash": digest},
            ),
            "data": {"spec": {"template": {**template, "$patch": "replace"}}},
            "revision": nth + 1,
        }
    )  # fmt: skip
    return digest if item["kind"] == "DaemonSet" else f"{meta['name']}-{digest}"


def _ordered_status(
    item: Object, short: dict[str, Any], pods: list[Object], digest: str, replicas: int
) -> None:
    ready = sum(is_ready(pod) for pod in pods)
    if item["kind"] == "StatefulSet":
        name = item["metadata"]["name"]
        item["spec"] = {
            "replicas": replicas,
            "serviceName": short.get("headless", name),
            "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "revisionHistoryLimit": 10,
            **item["spec"],
            "volumeClaimTemplates": [
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": claim},
                    "spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem", **spec},
                    "status": {"phase": "Pending"},
                }
                for claim, spec in short.get("claims", {}).items()
            ],
        }
        item["status"] = {
            "observedGeneration": item["metadata"]["generation"],
            "replicas": len(pods),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "currentReplicas": len(pods),
            "updatedReplicas": len(pods),
            "currentRevision": digest,
            "updateRevision": digest,
            "collisionCount": 0,
        }
        return
    item["spec"] |= {
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
        },
        "revisionHistoryLimit": 10,
    }
    item["status"] = {
        "observedGeneration": item["metadata"]["generation"],
        "currentNumberScheduled": len(pods),
        "desiredNumberScheduled": replicas,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "numberAvailable": ready,
        "updatedNumberScheduled": len(pods),
        **({"numberUnavailable": replicas - ready} if replicas > ready else {}),
    }
