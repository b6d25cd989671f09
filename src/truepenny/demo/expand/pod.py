"""Pods: a template, the place it runs at, and a status that agrees with its containers.

    {age, node, states: {container: STATE}, init: {container: STATE}, revision,
     unschedulable: MESSAGE, tries: N, reason: Evicted, evicted: AGE, message, deleting: AGE,
     unready_since: AGE, lost: true}

STATE is described in `state`. A container that is not named runs since the pod started. `lost`
is a pod on a node that stopped reporting: its last known state, not ready.
"""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from typing import Any

from truepenny.demo import identity
from truepenny.demo.timeline import parse

from .build import Build, Object, age
from .event import record
from .keys import check
from .state import container_status

_PATIENCE = 300  # seconds a pod stays bound to a lost node (DefaultTolerationSeconds)


def expand_pod(
    build: Build, owner: Object, namespace: str, name: str, template: Object, short: dict[str, Any]
) -> Object:
    """Add the pod `name` of `owner` (a replica set, stateful set, daemon set, job or node)."""
    check("pod", short, f"{namespace}/{name}")
    created = age(short.get("age"), "3d")
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": build.meta(
            "Pod", namespace, name, created, owner=owner,
            labels=template["metadata"]["labels"],
            annotations=template["metadata"].get("annotations"),
        ),
        "spec": _spec(template, owner, name, short),
        "status": {},
    }  # fmt: skip
    meta = pod["metadata"]
    if name.startswith(f"{owner['metadata']['name']}-"):
        meta["generateName"] = f"{owner['metadata']['name']}-"
    if "deleting" in short:
        meta["deletionTimestamp"] = build.timeline.stamp(short["deleting"])
        meta["deletionGracePeriodSeconds"] = pod["spec"]["terminationGracePeriodSeconds"]
    build.add(pod)
    record(build, owner, "SuccessfulCreate", f"Created pod: {name}", first=created)
    if "unschedulable" in short:
        _pending(build, pod, short, created)
    else:
        _placed(build, pod, short, created)
    return pod


def _spec(template: Object, owner: Object, name: str, short: dict[str, Any]) -> Object:
    spec: Object = deepcopy(template["spec"])
    token = f"kube-api-access-{identity.letters(owner['metadata']['uid'] + name, 5)}"
    mount = {
        "name": token,
        "readOnly": True,
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    for one in [*spec.get("initContainers", []), *spec["containers"]]:
        one["volumeMounts"] = [*one.get("volumeMounts", []), mount]
    claims = short.get("claims", {})
    spec["volumes"] = [
        *({"name": k, "persistentVolumeClaim": {"claimName": v}} for k, v in claims.items()),
        *spec.get("volumes", []),
        {"name": token, "projected": {"defaultMode": 420, "sources": _token_sources()}},
    ]
    spec.setdefault("serviceAccountName", "default")
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    spec |= {"enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority"}
    spec["priority"] = 2000001000 if "node-critical" in spec.get("priorityClassName", "") else 0
    if "node" in short:
        spec["nodeName"] = short["node"]
    wanted = {entry.get("key") for entry in spec.get("tolerations", [])}
    spec["tolerations"] = [
        *spec.get("tolerations", []),
        *(
            {
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": _PATIENCE,
            }
            for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
            if key not in wanted
        ),
    ]
    return spec


def _token_sources() -> list[Object]:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]


def _pending(build: Build, pod: Object, short: dict[str, Any], created: timedelta) -> None:
    message = short["unschedulable"]
    pod["status"] = {
        "phase": "Pending",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "observedGeneration": 1,
                "lastProbeTime": None,
                "lastTransitionTime": build.timeline.stamp(created),
                "reason": "Unschedulable",
                "message": message,
            }
        ],
        "qosClass": quality(pod["spec"]),
    }
    # The scheduler repeats itself about every five minutes; a shorter wait has one sighting.
    tries = short.get("tries", 1 + int(created.total_seconds() // 300))
    record(
        build, pod, "FailedScheduling", message, warning=True, component="default-scheduler",
        first=created, last=min(created, timedelta(seconds=41)), count=tries,
    )  # fmt: skip


def _placed(build: Build, pod: Object, short: dict[str, Any], created: timedelta) -> None:
    meta, spec = pod["metadata"], pod["spec"]
    where = f"{meta['namespace']}/{meta['name']}"
    record(
        build, pod, "Scheduled", f"Successfully assigned {where} to {spec['nodeName']}",
        first=created, component="default-scheduler",
    )  # fmt: skip
    if short.get("reason") == "Evicted":
        pod["status"] = {
            "phase": "Failed",
            "conditions": [
                {
                    "type": "DisruptionTarget",
                    "status": "True",
                    "lastProbeTime": None,
                    "lastTransitionTime": build.timeline.stamp(short["evicted"]),
                    "reason": "TerminationByKubelet",
                    "message": short["message"],
                }
            ],
            "reason": "Evicted",
            "message": short["message"],
            "startTime": build.timeline.stamp(created),
            "qosClass": quality(spec),
        }
        moment = age(short["evicted"], "0s")
        record(build, pod, "Evicted", short["message"], first=moment, warning=True)
        return
    started = created - timedelta(seconds=1)
    states: dict[str, dict[str, Any]] = short.get("states", {})
    inits: dict[str, dict[str, Any]] = short.get("init", {})
    default = {"running": max(started - timedelta(seconds=1), timedelta())}
    done = {"exit": 0, "started": started, "finished": started - timedelta(seconds=1)}
    init_specs: list[Object] = spec.get("initContainers", [])
    init_statuses = [
        container_status(
            build, pod, one, inits.get(one["name"], {"terminated": done}), created, "initContainers"
        )
        for one in init_specs
    ]
    initialized = all(one["ready"] for one in init_statuses)
    fallback = default if initialized else {"waiting": "PodInitializing"}
    statuses = [
        container_status(build, pod, one, states.get(one["name"], fallback), created, "containers")
        for one in spec["containers"]
    ]
    _status(build, pod, short, started, init_statuses, statuses)


def _status(
    build: Build, pod: Object, short: dict[str, Any], started: timedelta,
    init_statuses: list[Object], statuses: list[Object],
) -> None:  # fmt: skip
    spec, stamp = pod["spec"], build.timeline.stamp
    initialized = all(one["ready"] for one in init_statuses)
    ended = [one for one in statuses if "terminated" in one["state"]]
    phase = _phase(statuses, ended, initialized)
    unready = [one["name"] for one in statuses if not one["ready"]]
    ready = not unready and not short.get("lost")
    since = age(short.get("unready_since"), started)
    reasons: Object = {}
    if phase == "Succeeded":
        reasons = {"reason": "PodCompleted"}
    elif unready:
        message = f"containers with unready status: [{' '.join(unready)}]"
        reasons = {"reason": "ContainersNotReady", "message": message}
    waiting_inits = [one["name"] for one in init_statuses if not one["ready"]]
    init_reason: Object = {}
    if waiting_inits:
        message = f"containers with incomplete status: [{' '.join(waiting_inits)}]"
        init_reason = {"reason": "ContainersNotInitialized", "message": message}
    if phase == "Succeeded":
        init_reason = {"reason": "PodCompleted"}
    truth = {True: "True", False: "False"}
    begun = any("waiting" not in one["state"] or one["lastState"] for one in statuses)
    has_sandbox = begun or bool(init_statuses) or bool(statuses[0].get("imageID"))
    moved = (
        stamp(since)
        if unready or short.get("lost")
        else stamp(_ready_age(build, started, statuses))
    )
    rows: list[tuple[str, bool, str, Object]] = [
        ("PodReadyToStartContainers", has_sandbox and phase != "Succeeded", stamp(started), {}),
        ("Initialized", initialized, stamp(started), init_reason),
        ("Ready", ready, moved, reasons),
        ("ContainersReady", not unready, moved, reasons),
        ("PodScheduled", True, stamp(started + timedelta(seconds=1)), {}),
    ]
    status: Object = {
        "phase": phase,
        "observedGeneration": 1,
        "conditions": [
            {
                "type": kind,
                "status": truth[held],
                "observedGeneration": 1,
                "lastProbeTime": None,
                "lastTransitionTime": when,
                **extra,
            }
            for kind, held, when, extra in rows
        ],
    }
    address = build.node_addresses.get(spec["nodeName"], "")
    if address:
        status |= {"hostIP": address, "hostIPs": [{"ip": address}]}
    if has_sandbox:
        own = address if spec.get("hostNetwork") else build.pod_address(spec["nodeName"])
        status |= {"podIP": own, "podIPs": [{"ip": own}]}
    status["startTime"] = stamp(started)
    if init_statuses:
        status["initContainerStatuses"] = init_statuses
    status |= {"containerStatuses": statuses, "qosClass": quality(spec)}
    pod["status"] = status


def _ready_age(build: Build, started: timedelta, statuses: list[Object]) -> timedelta:
    """Return the age of readiness: a probe period after the last container start."""
    ages = [
        build.timeline.now - parse(one["state"]["running"]["startedAt"])
        for one in statuses
        if "running" in one["state"]
    ]
    return max(min([*ages, started]) - timedelta(seconds=4), timedelta())


def _phase(statuses: list[Object], ended: list[Object], initialized: bool) -> str:
    if not initialized:
        return "Pending"
    if len(ended) == len(statuses):
        good = all(one["state"]["terminated"]["exitCode"] == 0 for one in ended)
        return "Succeeded" if good else "Failed"
    if all("waiting" in one["state"] and not one["lastState"] for one in statuses):
        return "Pending"
    return "Running"


def quality(spec: Object) -> str:
    """Return the quality-of-service class that the API server derives from the resources."""
    resources = [one.get("resources", {}) for one in spec["containers"]]
    if not any(one.get("requests") or one.get("limits") for one in resources):
        return "BestEffort"
    for one in resources:
        limits, requests = one.get("limits", {}), one.get("requests", {})
        for name in ("cpu", "memory"):
            if name not in limits or requests.get(name, limits[name]) != limits[name]:
                return "Burstable"
    return "Guaranteed"


def is_gone(pod: Object) -> bool:
    """Whether its controller counts the pod no more: ended for good, or being deleted."""
    ended = pod["status"].get("phase") in ("Failed", "Succeeded")
    return ended or "deletionTimestamp" in pod["metadata"]


def is_ready(pod: Object) -> bool:
    """Whether the pod's Ready condition holds and it is not being deleted."""
    held = {one["type"]: one["status"] for one in pod["status"].get("conditions", [])}
    return held.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]
