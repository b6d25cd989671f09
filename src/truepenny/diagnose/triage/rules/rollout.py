"""Workloads with fewer ready pods than asked for, rollouts that stand, budgets that block."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.container import is_ready, running
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import (
    at,
    condition,
    labels,
    mapping,
    moment,
    name,
    number,
    objects,
    text,
)
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Severity

from .revision import rollouts

STARTING = timedelta(minutes=2)
"""A pod younger than this may just be starting."""


def rollout_stuck(case: Case) -> Iterator[Finding]:
    """A Deployment whose rollout passed its progress deadline: a symptom of the new pods' fault."""
    for item in case.all("deployments"):
        progressing = condition(item.obj, "Progressing")
        if (
            progressing.get("status") == "False"
            and text(progressing, "reason") == "ProgressDeadlineExceeded"
        ):
            shown = (
                f"Deployment {item.ref.name}: conditions[Progressing]: "
                f"ProgressDeadlineExceeded: {text(progressing, 'message')}"
            )
            history, words, unread = rollouts(case, item.ref)
            yield case.finding(
                "rollout_stuck", item.ref, [quote(item.source, shown), *history],
                not_checked=unread,
                confidence=Confidence.HIGH, because="the Deployment's condition states it",
                revision=words.get("revision"), made=words.get("made"),
                explained_by=_explanations(case, item.ref),
            )  # fmt: skip


def unavailable(case: Case) -> Iterator[Finding]:
    """A workload with fewer ready pods than asked for: a symptom."""
    for kind in ("deployments", "statefulsets"):
        for item in case.all(kind):
            asked = at(item.obj, "spec", "replicas")
            wanted = 1 if asked is None else number(item.obj, "spec", "replicas")
            ready = number(item.obj, "status", "readyReplicas")
            if ready < wanted and not _starting(case, item):
                counts = f"spec.replicas={wanted} status.readyReplicas={ready}"
                shown = f"{item.ref.kind} {item.ref.name}: {counts}"
                yield _unavailable(case, item, shown, ready, wanted)
    for item in case.all("daemonsets"):
        wanted = number(item.obj, "status", "desiredNumberScheduled")
        ready = number(item.obj, "status", "numberReady")
        if ready < wanted and not _starting(case, item):
            shown = (
                f"DaemonSet {item.ref.name}: desiredNumberScheduled={wanted} numberReady={ready}"
            )
            yield _unavailable(case, item, shown, ready, wanted)


def paused(case: Case) -> Iterator[Finding]:
    """A Deployment whose rollout is paused: changes to it do nothing until it is resumed."""
    for item in case.all("deployments"):
        if at(item.obj, "spec", "paused") is True:
            yield case.finding(
                "rollout_paused", item.ref,
                [quote(item.source, f"Deployment {item.ref.name}: spec.paused=true")],
                confidence=Confidence.HIGH, because="the field says so",
            )  # fmt: skip


def budget_blocks(case: Case) -> Iterator[Finding]:
    """A disruption budget that allows no eviction while a node is being drained."""
    cordoned = [node for node in case.all("nodes") if at(node.obj, "spec", "unschedulable") is True]
    for item in case.all("poddisruptionbudgets"):
        status = mapping(item.obj, "status")
        allowed, expected = number(status, "disruptionsAllowed"), number(status, "expectedPods")
        if allowed > 0 or expected == 0:
            continue
        case.require("nodes", "", "whether a node is being drained")
        picked = case.selected(
            labels(item.obj, "spec", "selector", "matchLabels"), item.ref.namespace
        )
        held = [
            node for node in cordoned
            if any(text(pod.obj, "spec", "nodeName") == name(node.obj) for pod in picked)
        ]  # fmt: skip
        healthy, desired = number(status, "currentHealthy"), number(status, "desiredHealthy")
        shown = (
            f"PodDisruptionBudget {item.ref.name}: disruptionsAllowed=0 "
            f"currentHealthy={healthy} desiredHealthy={desired} expectedPods={expected}"
        )
        evidence = [quote(item.source, shown)]
        evidence += [quote(n.source, f"Node {name(n.obj)}: spec.unschedulable=true") for n in held]
        owners = list(dict.fromkeys(case.owner(pod.obj) for pod in picked))
        # With all pods healthy the budget itself is too strict; with some down they are the cause.
        strict = desired >= expected
        yield case.finding(
            "budget_blocks_drain" if held else "budget_allows_nothing",
            item.ref,
            evidence,
            confidence=Confidence.HIGH,
            because="the budget's status states it",
            explained_by=[] if strict else owners,
            about=[*(node.ref for node in held), *owners],
            healthy=healthy,
            desired=desired,
            expected=expected,
            node=", ".join(name(node.obj) for node in held),
            severity=None if held else Severity.INFO,
        )


def update_waits(case: Case) -> Iterator[Finding]:
    """A StatefulSet whose update waits: an OnDelete strategy, or a partition, holds old pods."""
    for item in case.all("statefulsets"):
        status = mapping(item.obj, "status")
        current, update = text(status, "currentRevision"), text(status, "updateRevision")
        if not update or current == update:
            continue
        strategy = mapping(item.obj, "spec", "updateStrategy")
        partition = number(strategy, "rollingUpdate", "partition")
        if strategy.get("type") == "OnDelete" or partition > 0:
            how = "OnDelete" if strategy.get("type") == "OnDelete" else f"partition={partition}"
            shown = f"StatefulSet {item.ref.name}: updateStrategy {how}; {current} -> {update}"
            yield case.finding(
                "update_held", item.ref, [quote(item.source, shown)],
                confidence=Confidence.HIGH, because="the strategy and the revisions state it",
                how=how,
            )  # fmt: skip


def _unavailable(case: Case, item: Item, shown: str, ready: int, wanted: int) -> Finding:
    # A rollout that stands is a finding of its own, with its history.
    told = text(condition(item.obj, "Progressing"), "reason") == "ProgressDeadlineExceeded"
    history, words, unread = ([], {}, []) if told else rollouts(case, item.ref)
    return case.finding(
        "unavailable",
        item.ref,
        [quote(item.source, shown), *history],
        not_checked=unread,
        revision=words.get("revision"),
        made=words.get("made"),
        confidence=Confidence.HIGH,
        because="the workload's own status counts it",
        explained_by=_explanations(case, item.ref),
        ready=ready,
        wanted=wanted,
        severity=Severity.CRITICAL if ready == 0 else Severity.WARNING,
    )


def _explanations(case: Case, ref: ObjectRef) -> list[ObjectRef]:
    """The workload's own findings, and the nodes and claims of its pods."""
    nodes = [
        ObjectRef("Node", "", text(pod.obj, "spec", "nodeName"))
        for pod in case.pods_of(ref)
        if not is_ready(pod.obj) and text(pod.obj, "spec", "nodeName")
    ]
    return [ref, *dict.fromkeys(nodes)]


def _starting(case: Case, item: Item) -> bool:
    """Whether every unready pod is so young that it may just be starting."""
    unready = [p for p in case.pods_of(item.ref) if running(p.obj) and not is_ready(p.obj)]
    if not unready:
        return False
    return all(
        (made := moment(pod.obj, "metadata", "creationTimestamp")) is not None
        and case.now - made < STARTING
        and not any(
            number(each, "restartCount") for each in objects(pod.obj, "status", "containerStatuses")
        )
        for pod in unready
    )
