"""What the rules found, as hypotheses of a deep investigation: a cause is supported, what fits and
could not be shown stays open, and what stands beside it is not connected."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from truepenny.diagnose.triage.finding import Confidence, Finding
from truepenny.diagnose.triage.link import Incident

from .plan import Plan

MOST = 20
"""Hypotheses of one answer: below what a session holds, so that a second question has room."""

_CHARS = 400
"""What the tool takes of a claim."""

Call = tuple[str, Mapping[str, Any]]


def hypotheses(plans: Sequence[Plan], known: Collection[str]) -> Iterator[Call]:
    """Yield the calls that put the findings down, symptoms before what explains them.

    `known` are the ids of the calls of this session: evidence names no other.
    """
    number = 0
    for each in plans:
        for incident in each.examination.incidents if each.examination else ():
            chain = list(_chain(incident))
            if number + len(chain) > MOST:
                return
            ids: dict[object, str] = {}
            for finding, explains in chain:
                number += 1
                ids[finding.object] = f"h{number}"
                yield "hypothesis", _arguments(finding, f"h{number}", ids.get(explains, ""), known)


def _chain(incident: Incident) -> Iterator[tuple[Finding, object]]:
    """Yield the first symptom, then the root as what explains it."""
    first = incident.symptoms[0] if incident.symptoms else None
    if first is not None:
        yield first, None
    yield incident.root, first.object if first is not None else None


def _arguments(
    finding: Finding, name: str, explains: str, known: Collection[str]
) -> Mapping[str, Any]:
    calls = [quote.source for quote in finding.evidence if quote.source in known]
    sure = finding.confidence is not Confidence.LOW and bool(calls)
    check = next((step.command for step in finding.steps if step.command), "")
    return {
        "id": name,
        "claim": finding.sentence[:_CHARS],
        "state": "supported" if sure else "unresolved",
        "confidence": str(finding.confidence),
        "supports": list(dict.fromkeys(calls))[:20],
        "explains": explains,
        "next_check": ("" if sure else check)[:_CHARS],
    }
