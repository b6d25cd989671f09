"""Jobs that failed and cron jobs that do not fire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from truepenny.diagnose.triage.case import Case, quote, quote_event
from truepenny.diagnose.triage.container import containers
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import at, condition, moment, name, number, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding

from .crash import explain

JOB_NEWS = timedelta(days=1)
"""A job that failed longer ago is history: most schedules run at least once a day."""


def job_failed(case: Case) -> Iterator[Finding]:
    """A Job that gave up: too many failures, or over its deadline; its last pod's log says why."""
    for item in case.all("jobs"):
        failed = condition(item.obj, "Failed")
        if failed.get("status") != "True" or _superseded(case, item):
            continue
        when = moment(failed, "lastTransitionTime")
        if when and case.now - when > JOB_NEWS:
            continue
        reason = text(failed, "reason")
        shown = (
            f"Job {item.ref.name}: status.conditions[Failed]: {reason}: {text(failed, 'message')}"
        )
        evidence = [quote(item.source, shown)]
        owner = case.owner(item.obj)
        pods = [
            pod
            for pod in case.all("pods", item.ref.namespace)
            if any(
                text(ref, "name") == item.ref.name
                for ref in objects(pod.obj, "metadata", "ownerReferences")
            )
        ]
        pods.sort(key=lambda pod: text(pod.obj, "metadata", "creationTimestamp"), reverse=True)
        # At its deadline a Job's pods are stopped: how they ended is no reason then.
        why = None if reason == "DeadlineExceeded" else _why(case, pods, item)
        if why:
            yield why
        yield case.finding(
            "job_deadline" if reason == "DeadlineExceeded" else "job_failed",
            item.ref,
            evidence,
            confidence=Confidence.HIGH,
            because="the Job's own condition states it",
            explained_by=[item.ref] if why else [],
            about=[owner] if owner != item.ref else [],
            failures=number(item.obj, "status", "failed"),
            reason=reason,
            not_checked=[] if pods else ["the log: the Job's pods are gone or were not read"],
        )


def cron_suspended(case: Case) -> Iterator[Finding]:
    """A CronJob that is suspended: stated, since nobody may remember."""
    for item in case.all("cronjobs"):
        if at(item.obj, "spec", "suspend") is True:
            yield case.finding(
                "cronjob_suspended",
                item.ref,
                [quote(item.source, f"CronJob {item.ref.name}: spec.suspend=true")],
                confidence=Confidence.HIGH,
                because="the field says so",
            )


def cron_missed(case: Case) -> Iterator[Finding]:
    """A CronJob whose controller says that it could not start its runs."""
    for item in case.all("cronjobs"):
        events = [
            event
            for event in case.events(
                item.ref, "FailedNeedsStart", "MissSchedule", "TooManyMissedTimes", "FailedCreate"
            )
            if case.recent(event)
        ]
        if events:
            yield case.finding(
                "cronjob_missed",
                item.ref,
                [quote_event(events[0])],
                confidence=Confidence.MEDIUM,
                because="the controller's event states it",
            )


def _why(case: Case, pods: list[Item], job: Item) -> Finding | None:
    for pod in pods:
        for container in containers(pod.obj):
            if (
                container.exit_code not in (None, 0)
                and text(container.termination, "reason") != "OOMKilled"
            ):
                return explain(case, pod, container, job.ref, job=True)
            if text(container.termination, "reason") == "OOMKilled":
                shown = f"Pod {name(pod.obj)}: {container.termination_path}: reason=OOMKilled"
                return case.finding(
                    "out_of_memory",
                    job.ref,
                    [quote(pod.source, shown)],
                    confidence=Confidence.HIGH,
                    because="the container runtime reports OOMKilled",
                    container=container.name,
                    limit=container.memory_limit or "the node's memory (no limit is set)",
                    restarts=container.restarts,
                    pod=name(pod.obj),
                )
    return None


def _superseded(case: Case, item: Item) -> bool:
    """Whether a later run of the same CronJob succeeded."""
    owner = case.owner(item.obj)
    if owner == item.ref:
        return False
    started = text(item.obj, "metadata", "creationTimestamp")
    return any(
        other.ref != item.ref
        and case.owner(other.obj) == owner
        and text(other.obj, "metadata", "creationTimestamp") > started
        and condition(other.obj, "Complete").get("status") == "True"
        for other in case.all("jobs", item.ref.namespace)
    )
