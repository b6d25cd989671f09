"""Pods that find no node, and claims that find no volume."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truepenny.diagnose.triage.case import Case, quote, quote_event
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import (
    at,
    condition,
    labels,
    mapping,
    name,
    namespace,
    objects,
    strings,
    text,
)
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote
from truepenny.diagnose.triage.table import match

from .crash import captured
from .group import pods_where

# What keeps a pod from the nodes it is meant for, strongest statement first: a volume or an
# affinity names a demand of this pod; resources may free up; a taint often belongs to nodes that
# the pod was never meant for (the control plane).
_ORDER = (
    "pending_volume",
    "pending_affinity",
    "pending_resources",
    "pending_taint",
    "pending_cordoned",
)
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


def pending(case: Case) -> Iterator[Finding]:
    """A pod that the scheduler cannot place, by the strongest part of the scheduler's message."""
    for owner, items in pods_where(case, lambda item: bool(_unschedulable(item))):
        item = items[0]
        message = text(_unschedulable(item), "message")
        parts = _parts(message)
        told = [found for part in parts if (found := match("schedule", part))]
        told = [
            (pattern, found)
            for pattern, found in told
            if not (pattern.cause == "pending_taint" and found["taint"] in _CONTROL_PLANE)
        ] or told
        told.sort(key=lambda pair: _ORDER.index(pair[0].cause))
        excerpt = f"Pod {name(item.obj)}: status.conditions[PodScheduled]: {message}"
        evidence = [quote(item.source, excerpt)]
        if not told:
            yield case.finding(
                "pending_unexplained", owner, evidence,
                confidence=Confidence.LOW, because="the scheduler's message is not a known one",
                pod=name(item.obj),
            )  # fmt: skip
            continue
        pattern, found = told[0]
        words: dict[str, Any] = {"pod": name(item.obj), "count": len(items)}
        words |= captured(found.groupdict())
        explained, about = _details(case, item, pattern.cause, words, evidence)
        if pattern.cause == "pending_taint" and str(words.get("taint", "")).startswith(
            "node.kubernetes.io/"
        ):
            explained += [node.ref for node in case.all("nodes")]
        yield case.finding(
            pattern.cause,
            owner,
            evidence,
            confidence=Confidence.HIGH,
            because="the scheduler states it in the pod's condition",
            explained_by=explained,
            about=about,
            **words,
        )


def claim_pending(case: Case) -> Iterator[Finding]:
    """A claim without a volume: no storage class, or a provisioner that fails."""
    for item in case.all("persistentvolumeclaims"):
        if text(item.obj, "status", "phase") not in ("Pending", "Lost"):
            continue
        events = case.events(item.ref)
        latest = events[0] if events else None
        # Waiting for a first pod is how such classes work, and no fault by itself.
        if latest and text(latest.obj, "reason") == "WaitForFirstConsumer":
            continue
        wanted = at(item.obj, "spec", "storageClassName")
        state = f"status.phase={text(item.obj, 'status', 'phase')} spec.storageClassName={wanted}"
        evidence = [quote(item.source, f"PersistentVolumeClaim {item.ref.name}: {state}")]
        if latest:
            evidence.append(quote_event(latest))
        classes = case.require("storageclasses", "", "which storage classes there are")
        have = [name(each.obj) for each in classes]
        if isinstance(wanted, str) and case.known("storageclasses", "") and wanted not in have:
            if classes:
                evidence.append(quote(classes[0].source, f"StorageClasses: {', '.join(have)}"))
            yield case.finding(
                "storage_class_missing",
                item.ref,
                evidence,
                confidence=Confidence.HIGH,
                because="no storage class of that name exists",
                storage_class=wanted,
                have=", ".join(have) or "none",
            )
            continue
        yield case.finding(
            "claim_pending",
            item.ref,
            evidence,
            confidence=Confidence.MEDIUM if latest else Confidence.LOW,
            because="the claim's event states it"
            if latest
            else "no event about the claim was seen",
            storage_class=wanted or "the default class",
        )


def _details(
    case: Case, item: Item, cause: str, words: dict[str, Any], evidence: list[Quote]
) -> tuple[list[ObjectRef], list[ObjectRef]]:
    where, spec = namespace(item.obj), mapping(item.obj, "spec")
    if cause == "pending_volume":
        claims = [
            ObjectRef(
                "PersistentVolumeClaim", where, text(each, "persistentVolumeClaim", "claimName")
            )
            for each in objects(spec, "volumes")
            if text(each, "persistentVolumeClaim", "claimName")
        ]
        case.require("persistentvolumeclaims", where, "which claim has no volume")
        words["claim"] = words.get("claim") or ", ".join(ref.name for ref in claims)
        return claims, claims
    if cause == "pending_affinity":
        selector = labels(spec, "nodeSelector")
        wanted = ", ".join(f"{key}={value}" for key, value in selector.items())
        if wanted:
            evidence.append(quote(item.source, f"spec.nodeSelector: {wanted}"))
        elif mapping(spec, "affinity"):
            kinds = ", ".join(mapping(spec, "affinity"))
            evidence.append(quote(item.source, f"spec.affinity: {kinds} {_terms(spec)}".strip()))
            wanted = _terms(spec) or kinds
        words["wanted"] = wanted
    if cause == "pending_resources":
        resource = str(words.get("resource", ""))
        asks = [
            f"{text(each, 'name')}={value}"
            for each in objects(spec, "containers")
            if (value := at(each, "resources", "requests", resource)) is not None
        ]
        if asks:
            evidence.append(quote(item.source, f"spec requests {resource}: {', '.join(asks)}"))
        words["asks"] = f" (it requests {', '.join(asks)})" if asks else ""
        nodes = case.require("nodes", "", "how much the nodes have")
        have = [
            f"{name(node.obj)}={at(node.obj, 'status', 'allocatable', resource)}"
            for node in nodes
            if at(node.obj, "status", "allocatable", resource) is not None
        ]
        if have:
            evidence.append(quote(nodes[0].source, f"allocatable {resource}: {', '.join(have)}"))
    return [], []


def _terms(spec: object) -> str:
    required = mapping(
        spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    found = [
        f"{text(each, 'key')} {text(each, 'operator')} {','.join(strings(each, 'values'))}"
        for term in objects(required, "nodeSelectorTerms")
        for each in objects(term, "matchExpressions")
    ]
    return "; ".join(found)


def _parts(message: str) -> list[str]:
    """Split the scheduler's message into its reasons; the preemption note is left out."""
    body = message.split("preemption:")[0]
    _, _, reasons = body.partition("nodes are available:")
    return [part.strip().rstrip(".") for part in (reasons or body).split(", ")]


def _unschedulable(item: Item) -> dict[str, Any]:
    if text(item.obj, "status", "phase") != "Pending":
        return {}
    if text(item.obj, "metadata", "deletionTimestamp"):
        return {}
    scheduled = condition(item.obj, "PodScheduled")
    return scheduled if scheduled.get("status") == "False" else {}
