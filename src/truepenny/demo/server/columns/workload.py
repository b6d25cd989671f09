"""Rows of what runs pods: deployments and their like, jobs, and autoscalers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.age import since, span
from truepenny.demo.server.columns.common import NONE, age, containers, labels, selector
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import (
    Object,
    condition,
    dig,
    listing,
    mapping,
    moment,
    name_of,
    number,
    text,
)

_TEMPLATE = "Containers,Images,Selector"


def _ready(value: Object) -> str:
    wanted = number(value, "spec", "replicas", default=1)
    return f"{number(value, 'status', 'readyReplicas')}/{wanted}"


def _deployment(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        _ready(value),
        number(value, "status", "updatedReplicas"),
        number(value, "status", "availableReplicas"),
        age(value, now),
        *containers(value),
        selector(dig(value, "spec", "selector")),
    )


def _replica_set(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        number(value, "spec", "replicas", default=1),
        number(value, "status", "replicas"),
        number(value, "status", "readyReplicas"),
        age(value, now),
        *containers(value),
        selector(dig(value, "spec", "selector")),
    )


def _daemon_set(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        number(value, "status", "desiredNumberScheduled"),
        number(value, "status", "currentNumberScheduled"),
        number(value, "status", "numberReady"),
        number(value, "status", "updatedNumberScheduled"),
        number(value, "status", "numberAvailable"),
        labels(mapping(value, "spec", "template", "spec", "nodeSelector")),
        age(value, now),
        *containers(value),
        selector(dig(value, "spec", "selector")),
    )


def _stateful_set(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        _ready(value),
        age(value, now),
        *containers(value),
    )


def _job_status(value: Object) -> str:
    if dig(condition(value, "Complete"), "status") == "True":
        return "Complete"
    if dig(condition(value, "Failed"), "status") == "True":
        return "Failed"
    if dig(value, "metadata", "deletionTimestamp"):
        return "Terminating"
    if dig(condition(value, "Suspended"), "status") == "True":
        return "Suspended"
    if dig(condition(value, "FailureTarget"), "status") == "True":
        return "FailureTarget"
    if dig(condition(value, "SuccessCriteriaMet"), "status") == "True":
        return "SuccessCriteriaMet"
    return "Running"


def _job_duration(value: Object, now: datetime) -> str:
    started = moment(dig(value, "status", "startTime"))
    if started is None:
        return ""
    ended = moment(dig(value, "status", "completionTime"))
    if ended is None:
        failed = condition(value, "Failed")
        if dig(failed, "status") == "True":
            ended = moment(dig(failed, "lastTransitionTime"))
    return span(((ended or now) - started).total_seconds())


def _job(value: Object, now: datetime) -> Sequence[Any]:
    done = number(value, "status", "succeeded")
    wanted = dig(value, "spec", "completions")
    parallel = number(value, "spec", "parallelism", default=1)
    if wanted is not None:
        completions = f"{done}/{wanted}"
    else:
        completions = f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"
    return (
        name_of(value),
        _job_status(value),
        completions,
        _job_duration(value, now),
        age(value, now),
        *containers(value),
        selector(dig(value, "spec", "selector")),
    )


def _cron_job(value: Object, now: datetime) -> Sequence[Any]:
    last = dig(value, "status", "lastScheduleTime")
    template = mapping(value, "spec", "jobTemplate")
    return (
        name_of(value),
        text(value, "spec", "schedule"),
        text(value, "spec", "timeZone") or NONE,
        "True" if dig(value, "spec", "suspend") else "False",
        len(listing(value, "status", "active")),
        since(last, now) if last else NONE,
        age(value, now),
        *containers(template),
        selector(dig(template, "spec", "selector")),
    )


def _controller_revision(value: Object, now: datetime) -> Sequence[Any]:
    owner = NONE
    for reference in listing(value, "metadata", "ownerReferences"):
        if dig(reference, "controller"):
            api_version = text(reference, "apiVersion")
            group = api_version.split("/")[0] if "/" in api_version else ""
            owner = f"{text(reference, 'kind').lower()}{'.' + group if group else ''}"
            owner = f"{owner}/{text(reference, 'name')}"
    return name_of(value), owner, number(value, "revision"), age(value, now)


def _target(metric: Object, current: Object | None) -> str:
    kind = text(metric, "type")
    part = kind[:1].lower() + kind[1:]
    wanted = mapping(metric, part, "target")
    have = mapping(current, part, "current") if current else {}
    label = f"{text(metric, part, 'name')}: " if kind in ("Resource", "ContainerResource") else ""
    for field, suffix, note in (
        ("averageUtilization", "%", ""),
        ("averageValue", "", " (avg)" if not label else ""),
        ("value", "", ""),
    ):
        if field in wanted:
            now = f"{have[field]}{suffix}" if field in have else "<unknown>"
            return f"{label}{now}/{wanted[field]}{suffix}{note}"
    return "<unknown type>"


def _autoscaler(value: Object, now: datetime) -> Sequence[Any]:
    metrics = listing(value, "spec", "metrics")
    current = listing(value, "status", "currentMetrics")
    targets = [
        _target(metric, current[at] if at < len(current) else None)
        for at, metric in enumerate(metrics)
    ]
    shown = ", ".join(targets[:2])
    if len(targets) > 2:
        shown += f" + {len(targets) - 2} more..."
    reference = mapping(value, "spec", "scaleTargetRef")
    return (
        name_of(value),
        f"{text(reference, 'kind')}/{text(reference, 'name')}",
        shown or NONE,
        str(number(value, "spec", "minReplicas", default=1)),
        number(value, "spec", "maxReplicas"),
        number(value, "status", "currentReplicas"),
        age(value, now),
    )


_REPLICAS = Printer(columns("Name,Desired#,Current#,Ready#,Age", _TEMPLATE), _replica_set)

PRINTERS = {
    ("apps", "Deployment"): Printer(
        columns("Name,Ready,Up-to-date#,Available#,Age", _TEMPLATE), _deployment
    ),
    ("apps", "ReplicaSet"): _REPLICAS,
    ("", "ReplicationController"): _REPLICAS,
    ("apps", "DaemonSet"): Printer(
        columns(
            "Name,Desired#,Current#,Ready#,Up-to-date#,Available#,Node Selector,Age", _TEMPLATE
        ),
        _daemon_set,
    ),
    ("apps", "StatefulSet"): Printer(columns("Name,Ready,Age", "Containers,Images"), _stateful_set),
    ("apps", "ControllerRevision"): Printer(
        columns("Name,Controller,Revision#,Age"), _controller_revision
    ),
    ("batch", "Job"): Printer(columns("Name,Status,Completions,Duration,Age", _TEMPLATE), _job),
    ("batch", "CronJob"): Printer(
        columns("Name,Schedule,Timezone,Suspend,Active#,Last Schedule,Age", _TEMPLATE), _cron_job
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Printer(
        columns("Name,Reference,Targets,MinPods,MaxPods#,Replicas#,Age"), _autoscaler
    ),
}
