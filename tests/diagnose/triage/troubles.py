"""What the rules must find: each cause of the tables, in objects that show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from truepenny.diagnose.triage.table import exit_codes, patterns

from .build import (
    Json,
    ago,
    conditions,
    crashing,
    creating,
    deployment,
    ended,
    event,
    ingress,
    node,
    obj,
    owned,
    pending,
    pod,
    replicaset,
    service,
    waiting,
)

Logs = Callable[[str, str, str, bool], str | None]


@dataclass(frozen=True)
class Trouble:
    """Objects that show a cause, and the object that is to be named for it."""

    cause: str
    objects: Sequence[Json]
    on: str = "Deployment shop/app"
    logs: Logs = lambda *_: ""
    more: dict[str, Any] = field(default_factory=dict[str, Any])


def unready(answer: str) -> list[Json]:
    """A pod that runs, with what its readiness probe got for an answer."""
    failed = f"Readiness probe failed: {answer}"
    return with_event(pod(ready=False, container=PROBED), "Unhealthy", failed)


def said(line: str) -> Logs:
    return lambda *_: f"starting\n{line}\n"


def with_event(about: Json, reason: str, message: str, **more: Any) -> list[Json]:
    return [about, event(about, reason, message, **more)]


def _by_pattern() -> list[Trouble]:
    found: list[Trouble] = []
    for each in patterns("log"):
        found += [Trouble(each.cause, [crashing()], logs=said(line)) for line in each.examples]
    for each in patterns("image"):
        for line in each.examples:
            message = f"Failed to pull image registry.test/app:1: {line}"
            waits = pod(
                state=waiting("ImagePullBackOff", "Back-off pulling"), ready=False, phase="Pending"
            )
            found.append(Trouble(each.cause, with_event(waits, "Failed", message)))
    for each in patterns("config"):
        for line in each.examples:
            state = waiting("CreateContainerConfigError", line)
            found.append(Trouble(each.cause, [pod(state=state, ready=False, phase="Pending")]))
    for each in patterns("start"):
        for line in each.examples:
            state = waiting("RunContainerError", line)
            found.append(Trouble(each.cause, [pod(state=state, ready=False)]))
    for each in patterns("mount"):
        found += [
            Trouble(each.cause, with_event(creating(), "FailedMount", line))
            for line in each.examples
        ]
    for each in patterns("creation"):
        for line in each.examples:
            short = with_event(replicaset(have=0), "FailedCreate", f"Error creating: {line}")
            found.append(Trouble(each.cause, short))
    for each in patterns("schedule"):
        for line in each.examples:
            found.append(Trouble(each.cause, [pending(f"0/3 nodes are available: {line}.")]))
    for each in patterns("probe"):
        for line in each.examples:
            unready = pod(ready=False, container={"readinessProbe": {"httpGet": {"port": 8080}}})
            found.append(
                Trouble(
                    each.cause, with_event(unready, "Unhealthy", f"Readiness probe failed: {line}")
                )
            )
    found += [Trouble(code.cause, [crashing(code.code)]) for code in exit_codes().values()]
    return found


PROBED = {"readinessProbe": {"httpGet": {"port": 8081}}}
OOM = crashing(137, "OOMKilled", container={"resources": {"limits": {"memory": "64Mi"}}})
KILLED = crashing(143, container={"livenessProbe": {"periodSeconds": 5, "failureThreshold": 2}})
JOB = obj(
    "Job",
    "report",
    spec={},
    status={
        "failed": 4,
        "conditions": conditions(Failed=("True", "BackoffLimitExceeded", "limit")),
    },
)
LATE = obj(
    "Job",
    "report",
    spec={},
    status={"conditions": conditions(Failed=("True", "DeadlineExceeded", "late"))},
)
CLAIM = obj(
    "PersistentVolumeClaim", "data", spec={"storageClassName": "fast"}, status={"phase": "Pending"}
)
CRON = obj("CronJob", "nightly", spec={"suspend": False})
HPA = {"scaleTargetRef": {"kind": "Deployment", "name": "app"}, "maxReplicas": 3}
DNS = {
    "labels": {"k8s-app": "kube-dns"},
    "namespace": "kube-system",
    "owner": ("ReplicaSet", "coredns-5f6d7c8b9d"),
}
BUDGET = obj(
    "PodDisruptionBudget", "app",
    spec={"selector": {"matchLabels": {"app": "app"}}},
    status={"disruptionsAllowed": 0, "expectedPods": 1, "currentHealthy": 1, "desiredHealthy": 1},
)  # fmt: skip
GOING = {"deletionTimestamp": ago(60), "deletionGracePeriodSeconds": 30}


SCALER = "HorizontalPodAutoscaler shop/app"
DATA = "PersistentVolumeClaim shop/data"
COREDNS = "Deployment kube-system/coredns"
BUDGETED = "PodDisruptionBudget shop/app"


def hpa(**states: Any) -> Json:
    return obj(
        "HorizontalPodAutoscaler", "app", spec=HPA, status={"conditions": conditions(**states)}
    )


def certificate(ends: str, ready: str = "True") -> Json:
    state = conditions(Ready=(ready, "Reason", "message"))
    return obj(
        "Certificate",
        "web-tls",
        spec={"secretName": "web-tls"},
        status={"notAfter": ends, "conditions": state},
    )


BY_HAND = [
    Trouble("out_of_memory", [OOM]),
    Trouble(
        "out_of_memory_lowered",
        [
            OOM,
            deployment(ready=0),
            replicaset(revision="2", memory="64Mi"),
            replicaset("app-6f5d4c3b2b", revision="1", memory="512Mi"),
        ],
    ),
    Trouble(
        "probe_kills",
        with_event(
            KILLED,
            "Killing",
            "Container app failed liveness probe, will be restarted",
            kind="Normal",
        ),
    ),
    Trouble("restarted_in_the_past", [pod(last=ended(1, minutes=600), restarts=2)]),
    Trouble(
        "missing_environment",
        [
            pod(
                init={
                    "restartCount": 5,
                    "state": waiting("CrashLoopBackOff"),
                    "lastState": ended(1),
                },
                ready=False,
                phase="Pending",
            )
        ],
        logs=said("DB_URL is not set"),
    ),
    Trouble(
        "image_pull_failed",
        [pod(state=waiting("ImagePullBackOff", "Back-off pulling image"), ready=False)],
    ),
    Trouble("config_missing", with_event(creating(), "FailedMount", 'configmap "rules" not found')),
    Trouble(
        "sandbox_failed",
        with_event(creating(), "FailedCreatePodSandBox", "network plugin is not ready"),
    ),
    Trouble("probe_wrong_port", unready("dial tcp 10.0.0.7:8081: connection refused")),
    Trouble("probe_fails", unready("command said no")),
    Trouble("not_ready", [pod(ready=False, container=PROBED)]),
    Trouble(
        "dependency_refused",
        unready("statuscode: 503"),
        logs=said("dial tcp 10.0.0.9:5432: connect: connection refused"),
    ),
    Trouble("pending_unexplained", [pending("something new")]),
    Trouble("storage_class_missing", [CLAIM, obj("StorageClass", "standard", "")], on=DATA),
    Trouble(
        "claim_pending",
        [*with_event(CLAIM, "ProvisioningFailed", "no capacity"), obj("StorageClass", "fast", "")],
        on=DATA,
    ),
    Trouble(
        "creation_refused",
        [
            obj(
                "ReplicaSet",
                "app-7d9f8b6c5d",
                metadata={"ownerReferences": owned("Deployment", "app")},
                spec={"replicas": 1},
                status={
                    "replicas": 0,
                    "conditions": conditions(
                        ReplicaFailure=("True", "FailedCreate", "is forbidden: nobody knows")
                    ),
                },
            )
        ],
    ),
    Trouble(
        "service_selects_nothing",
        [service(selector={"app": "other"}), pod()],
        on="Service shop/app",
    ),
    Trouble("scaled_to_zero", [service(), deployment(replicas=0, ready=0)]),
    Trouble("service_wrong_port", [service(target=9090), pod()], on="Service shop/app"),
    Trouble("service_wrong_port", [service(target="grpc"), pod()], on="Service shop/app"),
    Trouble("service_without_endpoints", [service(), pod(ready=False)], on="Service shop/app"),
    Trouble("ingress_service_missing", [ingress("gone"), service(), pod()], on="Ingress shop/web"),
    Trouble("ingress_port_missing", [ingress(port=81), service(), pod()], on="Ingress shop/web"),
    Trouble(
        "ingress_backend_down", [ingress(), service(), pod(ready=False)], on="Ingress shop/web"
    ),
    Trouble("job_failed", [JOB], on="Job shop/report"),
    Trouble("job_deadline", [LATE], on="Job shop/report"),
    Trouble(
        "cronjob_suspended",
        [obj("CronJob", "nightly", spec={"suspend": True})],
        on="CronJob shop/nightly",
    ),
    Trouble(
        "cronjob_missed",
        with_event(CRON, "FailedNeedsStart", "too many missed"),
        on="CronJob shop/nightly",
    ),
    Trouble(
        "hpa_no_metrics",
        [hpa(ScalingActive=("False", "FailedGetResourceMetric", "no metrics"))],
        on=SCALER,
    ),
    Trouble(
        "hpa_no_request",
        [hpa(ScalingActive=("False", "FailedGetResourceMetric", "missing request for cpu"))],
        on=SCALER,
    ),
    Trouble(
        "hpa_at_limit",
        [hpa(ScalingActive="True", ScalingLimited=("True", "TooManyReplicas", "more"))],
        on=SCALER,
    ),
    Trouble(
        "rollout_stuck",
        [
            deployment(
                conditions=conditions(Progressing=("False", "ProgressDeadlineExceeded", "late"))
            )
        ],
    ),
    Trouble(
        "rollout_paused",
        [obj("Deployment", "app", spec={"replicas": 0, "paused": True}, status={})],
    ),
    Trouble("unavailable", [deployment(replicas=2, ready=1)]),
    Trouble(
        "unavailable",
        [
            obj(
                "DaemonSet",
                "app",
                spec={},
                status={"desiredNumberScheduled": 3, "numberReady": 2, "currentNumberScheduled": 3},
            )
        ],
        on="DaemonSet shop/app",
    ),
    Trouble(
        "update_held",
        [
            obj(
                "StatefulSet",
                "app",
                spec={"replicas": 1, "updateStrategy": {"type": "OnDelete"}},
                status={"readyReplicas": 1, "currentRevision": "a", "updateRevision": "b"},
            )
        ],
        on="StatefulSet shop/app",
    ),
    Trouble("budget_blocks_drain", [BUDGET, pod(), node(unschedulable=True)], on=BUDGETED),
    Trouble("budget_allows_nothing", [BUDGET, pod(), node()], on=BUDGETED),
    Trouble(
        "node_silent",
        [node(Ready=("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."))],
        on="Node worker-1",
    ),
    Trouble(
        "node_not_ready",
        [node(Ready=("False", "KubeletNotReady", "PLEG is not healthy"))],
        on="Node worker-1",
    ),
    Trouble(
        "node_pressure",
        [node(DiskPressure=("True", "KubeletHasDiskPressure", "full"))],
        on="Node worker-1",
    ),
    Trouble("node_recovered", [node()], on="Node worker-1"),
    Trouble("node_cordoned", [node(unschedulable=True)], on="Node worker-1"),
    Trouble(
        "evicted",
        [
            pod(
                phase="Failed",
                ready=False,
                status={
                    "reason": "Evicted",
                    "message": "low on resource: memory",
                    "phase": "Failed",
                },
            )
        ],
    ),
    Trouble("dns_down", [pod(**DNS, ready=False)], on=COREDNS),
    Trouble(
        "dns_degraded",
        [pod(**DNS, ready=False), pod("coredns-5f6d7c8b9d-fghij", **DNS)],
        on=COREDNS,
    ),
    Trouble(
        "finalizer_holds",
        [
            obj(
                "PersistentVolumeClaim",
                "data",
                metadata={**GOING, "finalizers": ["kubernetes.io/pvc-protection"]},
                spec={},
                status={"phase": "Bound"},
            )
        ],
        on=DATA,
    ),
    Trouble("terminating_stuck", [pod(metadata=GOING)], on="Pod shop/app-7d9f8b6c5d-abcde"),
    Trouble(
        "namespace_stuck",
        [
            obj(
                "Namespace",
                "old",
                "",
                metadata={**GOING, "deletionGracePeriodSeconds": 0},
                spec={"finalizers": ["kubernetes"]},
                status={
                    "conditions": conditions(
                        NamespaceContentRemaining=("True", "SomeResourcesRemain", "x has 1")
                    )
                },
            )
        ],
        on="Namespace old",
    ),
    Trouble("certificate_expired", [certificate(ago(60))], on="Certificate shop/web-tls"),
    Trouble("certificate_not_issued", [certificate("", "False")], on="Certificate shop/web-tls"),
    Trouble(
        "certificate_expires_soon", [certificate(ago(-60 * 24 * 2))], on="Certificate shop/web-tls"
    ),
]

TROUBLES = [*_by_pattern(), *BY_HAND]
