"""Jobs and cron jobs with their pods.

    jobs: {namespace/name: {age, backoff_limit, deadline, app, node, TEMPLATE…, pods: [POD…],
                            state: complete | failed | running, reason, message, took: DURATION}}
    cronjobs: {namespace/name: {schedule, suspend, age, TEMPLATE…,
                                runs: [{at: AGE, took: DURATION, …as a job}]}}

A run of a cron job is named after its scheduled minute, as the controller does.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from truepenny.demo import identity
from truepenny.demo.merge import merged

from .build import WORLD_AGE, Build, Object, age
from .event import record
from .keys import check
from .pod import expand_pod
from .template import pod_template


def expand_job(
    build: Build, key: str, short: dict[str, Any], owner: Object | None = None
) -> Object:
    """Add the job `namespace/name` and its pods; `owner` is its cron job."""
    check("job", short, key)
    namespace, _, name = key.partition("/")
    born = age(short.get("age"), "3h")
    unique = identity.uid(f"Job/{namespace}/{name}")
    controller = {
        "batch.kubernetes.io/controller-uid": unique,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": unique,
        "job-name": name,
    }
    labels = {"app": short.get("app", name), **short.get("labels", {})}
    template = pod_template({"restart_policy": "Never", **short}, labels | controller)
    spec: Object = {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": short.get("backoff_limit", 6),
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": unique}},
        "manualSelector": False,
        "template": template,
    }
    if "deadline" in short:
        spec["activeDeadlineSeconds"] = short["deadline"]
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": build.meta(
            "Job", namespace, name, born, labels=labels | controller, owner=owner,
            annotations=short.get("annotations"),
        ),
        "spec": spec,
        "status": {},
    }  # fmt: skip
    build.add(job)
    pods = [
        expand_pod(
            build, job, namespace, f"{name}-{identity.letters(f'{key}{index}', 5)}", template,
            {"age": born - timedelta(seconds=1), "node": short.get("node", "worker-1"), **entry},
        )
        for index, entry in enumerate(short.get("pods") or [_completed(short, born)])
    ]  # fmt: skip
    build.pods_of[key] = pods
    _job_status(build, job, pods, short, born)
    return job


def _completed(short: dict[str, Any], born: timedelta) -> dict[str, Any]:
    ended = {
        "exit": 0,
        "started": born - timedelta(seconds=3),
        "finished": born - timedelta(seconds=3) - age(short.get("took"), "12s"),
    }
    return {"states": {name: {"terminated": ended} for name in short["containers"]}}


def _job_status(
    build: Build, job: Object, pods: list[Object], short: dict[str, Any], born: timedelta
) -> None:
    stamp = build.timeline.stamp
    phases = [pod["status"]["phase"] for pod in pods]
    status: Object = {"startTime": stamp(born)}
    counts = {
        "succeeded": phases.count("Succeeded"),
        "failed": phases.count("Failed"),
        "active": phases.count("Running") + phases.count("Pending"),
    }
    status |= {name: count for name, count in counts.items() if count}
    status |= {"ready": phases.count("Running"), "terminating": 0, "uncountedTerminatedPods": {}}
    state = short.get("state", "complete")
    if state != "running":
        ended = age(short.get("ended"), born - timedelta(seconds=4) - age(short.get("took"), "12s"))
        if state == "complete":
            status["completionTime"] = stamp(ended)
            rows = [
                (
                    "SuccessCriteriaMet",
                    "CompletionsReached",
                    "Reached expected number of succeeded pods",
                )
            ]
            rows.append(("Complete", *rows[0][1:]))
            record(build, job, "Completed", "Job completed", first=ended)
        else:
            reason = short.get("reason", "BackoffLimitExceeded")
            message = short.get("message", "Job has reached the specified backoff limit")
            rows = [("FailureTarget", reason, message), ("Failed", reason, message)]
            record(build, job, reason, message, first=ended, warning=True)
        status["conditions"] = [
            {
                "type": kind,
                "status": "True",
                "lastProbeTime": stamp(ended),
                "lastTransitionTime": stamp(ended),
                "reason": reason,
                "message": message,
            }
            for kind, reason, message in rows
        ]
    job["status"] = status


def expand_cron_job(build: Build, key: str, short: dict[str, Any]) -> None:
    """Add the cron job `namespace/name` and the jobs that it left behind."""
    check("cronjob", short, key)
    namespace, _, name = key.partition("/")
    born = age(short.get("age"), WORLD_AGE)
    template = pod_template(
        {"restart_policy": "Never", **short}, {"app": name, **short.get("labels", {})}
    )
    runs: list[dict[str, Any]] = short.get("runs", [])
    job_spec = {"backoffLimit": short.get("backoff_limit", 6), "template": template}
    cron: Object = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": build.meta("CronJob", namespace, name, born, labels={"app": name}),
        "spec": {
            "schedule": short["schedule"],
            "concurrencyPolicy": "Forbid",
            "suspend": short.get("suspend", False),
            "jobTemplate": {"metadata": {}, "spec": job_spec},
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
        },
        "status": {},
    }
    build.add(cron)
    for run in runs:
        minute = int(build.timeline.ago(run["at"]).timestamp()) // 60
        body = merged({k: v for k, v in short.items() if k not in ("runs", "age")}, run)
        at = run["at"]
        job = expand_job(
            build, f"{namespace}/{name}-{minute}", {"app": name, **body, "age": at}, owner=cron
        )
        first = age(at, "0s")
        record(
            build, cron, "SuccessfulCreate", f"Created job {job['metadata']['name']}", first=first
        )
    good = [run["at"] for run in runs if run.get("state", "complete") == "complete"]
    if runs:
        cron["status"]["lastScheduleTime"] = build.timeline.stamp(runs[-1]["at"])
    if good:
        last = age(good[-1], "0s") - age(short.get("took"), "12s") - timedelta(seconds=4)
        cron["status"]["lastSuccessfulTime"] = build.timeline.stamp(last)
