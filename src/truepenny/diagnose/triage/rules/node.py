"""Nodes that are not ready or under pressure, and the pods that were evicted from them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from truepenny.diagnose.triage.age import since
from truepenny.diagnose.triage.case import Case, quote, quote_event
from truepenny.diagnose.triage.fields import Object, at, condition, moment, name, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote
from truepenny.diagnose.triage.query import Query

from .group import pods_where

PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
LEASES = Query(
    ("get", "leases", "-n", "kube-node-lease", "-o", "json"),
    "when the kubelets gave their last sign of life",
)
"""Read where a node is not ready: one list for all of them, some 1 KB a node."""
TURNED_LATELY = timedelta(hours=1)
"""A change of a node's condition is told for as long as a cluster keeps the events about it."""
JOINING = timedelta(minutes=10)
"""So long after its creation a node's conditions settle for the first time."""
EVICTION_NEWS = timedelta(hours=1)
"""Failed pods of an eviction stay for the garbage collector; an older eviction is history."""


def not_ready(case: Case) -> Iterator[Finding]:
    """A node whose kubelet does not report, or reports that it is not ready."""
    for item in case.all("nodes"):
        ready = condition(item.obj, "Ready")
        if not ready or ready.get("status") == "True":
            continue
        said = f"{text(ready, 'reason')}: {text(ready, 'message')}"
        shown = f"Node {item.ref.name}: conditions[Ready]={ready.get('status')}: {said}"
        evidence = [quote(item.source, shown), *_events(case, item.ref)]
        lease, renewed, unread = _lease(case, item.ref.name)
        evidence += lease
        pods = [p for p in case.all("pods") if text(p.obj, "spec", "nodeName") == item.ref.name]
        yield case.finding(
            "node_silent" if ready.get("status") == "Unknown" else "node_not_ready",
            item.ref,
            evidence,
            confidence=Confidence.HIGH,
            because="the node's Ready condition states it",
            not_checked=unread,
            since=text(ready, "lastTransitionTime") or "unknown",
            renewed=renewed,
            count=len(pods) if case.known("pods", "") else f"at least {len(pods)}",
        )


def recovered(case: Case) -> Iterator[Finding]:
    """A node whose condition changed for the better lately: what ran on it may have suffered."""
    for item in case.all("nodes"):
        born = moment(item.obj, "metadata", "creationTimestamp")
        changes: list[str] = []
        quotes: list[Quote] = []
        for kind in ("Ready", *PRESSURES):
            state = condition(item.obj, kind)
            turned = moment(state, "lastTransitionTime")
            well = state.get("status") == ("True" if kind == "Ready" else "False")
            if not well or turned is None or case.now - turned > TURNED_LATELY:
                continue
            # A new node's conditions all turn once, when it joins.
            if born is None or turned - born <= JOINING:
                continue
            changes.append(f"{kind} turned {state.get('status')} {since(turned, case.now)} ago")
            stamp = text(state, "lastTransitionTime")
            shown = f"conditions[{kind}]={state.get('status')} lastTransitionTime={stamp}"
            quotes.append(quote(item.source, f"Node {item.ref.name}: {shown}"))
        if changes:
            yield case.finding(
                "node_recovered",
                item.ref,
                [*quotes, *_events(case, item.ref)],
                confidence=Confidence.HIGH,
                because="the node's conditions bear the time of their last change",
                not_checked=["what the condition was before that, and how often it changed"],
                changes=", ".join(changes),
            )


def pressure(case: Case) -> Iterator[Finding]:
    """A node short of memory, disk or process ids."""
    for item in case.all("nodes"):
        for kind in PRESSURES:
            state = condition(item.obj, kind)
            if state.get("status") == "True":
                said = f"{text(state, 'reason')}: {text(state, 'message')}"
                yield case.finding(
                    "node_pressure",
                    item.ref,
                    [
                        quote(
                            item.source, f"Node {item.ref.name}: conditions[{kind}]=True: {said}"
                        ),
                        *_events(case, item.ref),
                    ],
                    confidence=Confidence.HIGH,
                    because="the node's condition states it",
                    pressure=kind,
                )


def cordoned(case: Case) -> Iterator[Finding]:
    """A node that takes no new pods because somebody said so."""
    for item in case.all("nodes"):
        if at(item.obj, "spec", "unschedulable") is True:
            yield case.finding(
                "node_cordoned",
                item.ref,
                [quote(item.source, f"Node {item.ref.name}: spec.unschedulable=true")],
                confidence=Confidence.HIGH,
                because="the field says so",
            )


def evicted(case: Case) -> Iterator[Finding]:
    """Pods that a node evicted lately, with the resource that it ran out of."""
    for owner, items in pods_where(
        case,
        lambda item: (
            text(item.obj, "status", "phase") == "Failed"
            and text(item.obj, "status", "reason") == "Evicted"
        ),
    ):
        item = items[0]
        when = _failed_at(item.obj)
        if when and case.now - when > EVICTION_NEWS:
            continue
        said = text(item.obj, "status", "message")
        node = text(item.obj, "spec", "nodeName")
        case.require("nodes", "", "whether the node is still under pressure")
        evidence = [quote(item.source, f"Pod {name(item.obj)}: status.reason=Evicted: {said}")]
        evidence += [quote_event(e) for e in case.events(item.ref, "Evicted")[:1]]
        yield case.finding(
            "evicted",
            owner,
            evidence,
            confidence=Confidence.HIGH,
            because="the kubelet states it in the pod's status",
            explained_by=[ObjectRef("Node", "", node)] if node else [],
            count=len(items),
            node=node,
            pod=name(item.obj),
        )


def _failed_at(pod: Object) -> datetime | None:
    times = [
        moment(each, "lastTransitionTime")
        for each in objects(pod, "status", "conditions")
        if each.get("type") in ("DisruptionTarget", "Ready")
    ]
    found = [when for when in times if when]
    return max(found) if found else moment(pod, "status", "startTime")


def _lease(case: Case, node: str) -> tuple[list[Quote], str | None, list[str]]:
    """Return the node's lease as a quote, how long ago it was renewed, and what was not read.

    The kubelet renews it every 10 seconds, apart from its status: the last sign of life.
    """
    answer = case.read(LEASES)
    if answer is None or not answer.status.readable:
        why = "not read yet" if answer is None else answer.reason or str(answer.status)
        return [], None, [f"{LEASES.command}: {why}"]
    for lease in answer.objects:
        if name(lease) == node:
            stamp = text(lease, "spec", "renewTime")
            shown = f"Lease {node}: spec.renewTime={stamp or 'none'}"
            when = moment(lease, "spec", "renewTime")
            return [quote(answer, shown)], since(when, case.now) if when else None, []
    return [], None, [f"the lease of node {node}: it is not among those that were read"]


def _events(case: Case, ref: ObjectRef) -> list[Quote]:
    warnings = [
        event
        for event in case.events(ref)
        if text(event.obj, "type") == "Warning" and case.recent(event)
    ]
    return [quote_event(event) for event in warnings[:2]]
