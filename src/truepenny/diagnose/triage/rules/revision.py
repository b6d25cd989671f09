"""What a Deployment ran before: its ReplicaSets, as far as they are kept."""

from __future__ import annotations

from truepenny.diagnose.triage.age import since
from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import moment, name, number, objects, text
from truepenny.diagnose.triage.finding import ObjectRef, Quote

SHOWN = 2
"""Revisions quoted: the present one and the one before it, which a rollback would bring back."""

_REVISION = "deployment.kubernetes.io/revision"
_CAUSE = "kubernetes.io/change-cause"


def revisions(case: Case, on: ObjectRef) -> list[tuple[int, Item]]:
    """Return the revisions of a Deployment with their ReplicaSets, the present one first."""
    if on.kind != "Deployment":
        return []
    found = [
        (int(written), item)
        for item in case.all("replicasets", on.namespace)
        if case.owner(item.obj) == on
        and (written := text(item.obj, "metadata", "annotations", _REVISION)).isdigit()
    ]
    return sorted(found, key=lambda pair: pair[0], reverse=True)


def rollouts(case: Case, on: ObjectRef) -> tuple[list[Quote], dict[str, str], list[str]]:
    """Return quotes of the latest revisions, words for a sentence, and what was not read.

    The words `revision` and `made` are there only where an earlier revision is: a first one
    changed nothing. A ReplicaSet that a rollback brought back keeps its first age.
    """
    if on.kind != "Deployment":
        return [], {}, []
    missing = [] if case.known("replicasets", on.namespace) else ["rollout history: not read whole"]
    found = revisions(case, on)
    if len(found) < SHOWN:
        return [], {}, missing
    quotes = [quote(item.source, _shown(case, place, item)) for place, item in found[:SHOWN]]
    made = since(moment(found[0][1].obj, "metadata", "creationTimestamp"), case.now)
    return quotes, {"revision": str(found[0][0]), "made": made}, missing


def _shown(case: Case, revision: int, item: Item) -> str:
    made = text(item.obj, "metadata", "creationTimestamp") or "an unknown time"
    cause = text(item.obj, "metadata", "annotations", _CAUSE)
    images = [
        text(each, "image")
        for each in objects(item.obj, "spec", "template", "spec", "containers")
        if text(each, "image")
    ]
    parts = [
        f"ReplicaSet {name(item.obj)}: revision={revision}",
        f"creationTimestamp={made}",
        f"status.replicas={number(item.obj, 'status', 'replicas')}",
        *(f"image={image}" for image in images[:SHOWN]),
        *([f"change-cause={cause}"] if cause else []),
    ]
    return " ".join(parts)
