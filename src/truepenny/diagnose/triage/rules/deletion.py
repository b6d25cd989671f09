"""Objects that are being deleted and do not go away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import condition, moment, number, strings, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote

STUCK_AFTER = timedelta(minutes=5)
"""Beyond an object's own grace period. Controllers and kubelets finish within seconds."""

_KINDS = (
    "pods",
    "persistentvolumeclaims",
    "services",
    "deployments",
    "statefulsets",
    "certificates.cert-manager.io",
    "jobs",
    "ingresses",
)


def terminating(case: Case) -> Iterator[Finding]:
    """An object whose deletion waits: for a finalizer, or for a node that does not answer."""
    for kind in _KINDS:
        for item in case.all(kind):
            if _stuck(case, item):
                yield _object(case, item)
    for item in case.all("namespaces"):
        if _stuck(case, item):
            yield _namespace(case, item)


def _object(case: Case, item: Item) -> Finding:
    held = strings(item.obj, "metadata", "finalizers")
    node = text(item.obj, "spec", "nodeName")
    return case.finding(
        "finalizer_holds" if held else "terminating_stuck",
        item.ref,
        [_deletion(item, held)],
        confidence=Confidence.HIGH if held else Confidence.LOW,
        because="the finalizers are in its metadata"
        if held
        else "no finalizer is set; the node may not answer",
        explained_by=[ObjectRef("Node", "", node)] if node and not held else [],
        finalizers=", ".join(held),
        since=text(item.obj, "metadata", "deletionTimestamp"),
    )


def _namespace(case: Case, item: Item) -> Finding:
    remaining = condition(item.obj, "NamespaceFinalizersRemaining")
    content = condition(item.obj, "NamespaceContentRemaining")
    discovery = condition(item.obj, "NamespaceDeletionDiscoveryFailure")
    held = strings(item.obj, "spec", "finalizers") + strings(item.obj, "metadata", "finalizers")
    evidence = [_deletion(item, held)]
    for each in (discovery, remaining, content):
        if each.get("status") == "True":
            shown = f"conditions[{text(each, 'type')}]: {text(each, 'message')}"
            evidence.append(quote(item.source, f"Namespace {item.ref.name}: {shown}"))
    return case.finding(
        "namespace_stuck",
        item.ref,
        evidence,
        confidence=Confidence.HIGH if len(evidence) > 1 else Confidence.LOW,
        because="the namespace's conditions state it"
        if len(evidence) > 1
        else "its conditions say nothing",
        explained_by=[
            other.ref
            for kind in _KINDS
            for other in case.all(kind, item.ref.name)
            if _stuck(case, other)
        ],
        since=text(item.obj, "metadata", "deletionTimestamp"),
    )


def _stuck(case: Case, item: Item) -> bool:
    when = moment(item.obj, "metadata", "deletionTimestamp")
    grace = timedelta(seconds=number(item.obj, "metadata", "deletionGracePeriodSeconds"))
    return when is not None and case.now - when > STUCK_AFTER + grace


def _deletion(item: Item, held: list[str]) -> Quote:
    when = text(item.obj, "metadata", "deletionTimestamp")
    shown = f"{item.ref.kind} {item.ref.name}: deletionTimestamp={when} finalizers={held}"
    return quote(item.source, shown)
