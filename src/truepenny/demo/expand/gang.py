"""Volcano's jobs: pods that start together or not at all, with the PodGroup that says so.

    gangs: {namespace/name: {queue, min, age, TEMPLATE…, phase, message, pods: [POD…]}}

`phase` is the PodGroup's: with Pending the queue has not let it in, and there are no pods yet.
`message` is why it is not scheduled. The kinds come from CustomResourceDefinitions of the world.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from truepenny.demo import identity

from .build import Build, Object, age
from .event import record
from .keys import check
from .pod import expand_pod
from .template import pod_template

_GROUP_NAME = "scheduling.k8s.io/group-name"
_TASK = "worker"
_SCHEDULER = "volcano"
_ROUND = timedelta(seconds=30)
"""How often the scheduler says again that a gang does not fit, about."""
_LATELY = timedelta(seconds=22)


def expand_gang(build: Build, key: str, short: dict[str, Any]) -> Object:
    """Add the job `namespace/name`, its PodGroup and its pods; return the job."""
    check("gang", short, key)
    namespace, _, name = key.partition("/")
    born, entries = age(short.get("age"), "1h"), short.get("pods", [])
    replicas = short.get("replicas", len(entries))
    group = f"{name}-{identity.uid(f'Job.batch.volcano.sh/{namespace}/{name}')}"
    labels = {
        "volcano.sh/job-name": name,
        "volcano.sh/job-namespace": namespace,
        "volcano.sh/queue-name": short["queue"],
        "volcano.sh/task-spec": _TASK,
    }
    template = pod_template({"restart_policy": "Never", **short}, labels)
    template["metadata"]["annotations"] = {_GROUP_NAME: group, "volcano.sh/job-name": name}
    template["spec"]["schedulerName"] = _SCHEDULER
    meta = build.meta("Job.batch.volcano.sh", namespace, name, born)
    job: Object = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": meta,
        "spec": {
            "minAvailable": short["min"],
            "maxRetry": 3,
            "queue": short["queue"],
            "schedulerName": _SCHEDULER,
            "tasks": [
                {
                    "name": _TASK,
                    "replicas": replicas,
                    "minAvailable": short["min"],
                    "template": template,
                }
            ],
        },
        "status": {},
    }
    build.add(job)
    pods = [
        expand_pod(
            build, job, namespace, f"{name}-{_TASK}-{index}", template, {"age": born} | entry
        )
        for index, entry in enumerate(entries)
    ]
    build.pods_of[key] = pods
    phases = [str(pod["status"]["phase"]) for pod in pods]
    counts = {phase: phases.count(phase) for phase in sorted(set(phases))}
    state = "Running" if phases and set(phases) == {"Running"} else "Pending"
    job["status"] = {
        "minAvailable": short["min"],
        "state": {"phase": state, "lastTransitionTime": build.timeline.stamp(born)},
        "taskStatusCount": {_TASK: {"phase": counts}},
        **{phase.lower(): count for phase, count in counts.items()},
    }
    _pod_group(build, job, group, short, counts)
    return job


def _pod_group(
    build: Build, job: Object, name: str, short: dict[str, Any], counts: dict[str, int]
) -> None:
    namespace = job["metadata"]["namespace"]
    born = age(short.get("age"), "1h")
    status: Object = {"phase": short["phase"]}
    if running := counts.get("Running"):
        status["running"] = running
    if "message" in short:
        status["conditions"] = [
            {
                "type": "Unschedulable",
                "status": "True",
                "reason": "NotEnoughResources",
                "message": short["message"],
                "lastTransitionTime": build.timeline.stamp(short.get("since", born)),
                "transitionID": identity.uid(f"transition/{namespace}/{name}"),
            }
        ]
    group = build.add(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": build.meta("PodGroup", namespace, name, born, owner=job),
            "spec": {
                "minMember": short["min"],
                "minTaskMember": {_TASK: short["min"]},
                "queue": short["queue"],
            },
            "status": status,
        }
    )
    if "message" in short:
        since = age(short.get("since"), born)
        record(
            build, group, "Unschedulable", short["message"], warning=True, component=_SCHEDULER,
            first=since, last=min(since, _LATELY), count=1 + int(since / _ROUND),
        )  # fmt: skip
