"""Nodes that are not ready or under pressure, and the pods that were evicted from them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from truepenny.diagnose.triage.case import Case, quote, quote_event
from truepenny.diagnose.triage.fields import Object, at, condition, moment, name, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote

from .group import pods_where

PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
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
        pods = [p for p in case.all("pods") if text(p.obj, "spec", "nodeName") == item.ref.name]
        yield case.finding(
            "node_silent" if ready.get("status") == "Unknown" else "node_not_ready",
            item.ref,
            evidence,
            confidence=Confidence.HIGH,
            because="the node's Ready condition states it",
            since=text(ready, "lastTransitionTime") or "unknown",
            count=len(pods) if case.known("pods", "") else f"at least {len(pods)}",
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


def _events(case: Case, ref: ObjectRef) -> list[Quote]:
    warnings = [
        event
        for event in case.events(ref)
        if text(event.obj, "type") == "Warning" and case.recent(event)
    ]
    return [quote_event(event) for event in warnings[:2]]
