"""Folds symptoms under their causes: each finding that another one explains points to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .finding import Confidence, Finding, ObjectRef, Severity

PAST = frozenset({"restarted_in_the_past", "node_recovered"})
"""Causes that are over, also when asked about."""

_SEVERITY = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.INFO: 2}
_CONFIDENCE = {Confidence.HIGH: 0, Confidence.MEDIUM: 1, Confidence.LOW: 2}


@dataclass(frozen=True, slots=True)
class Incident:
    """One root finding and the symptoms that it explains, directly or through others."""

    root: Finding
    symptoms: tuple[Finding, ...]

    @property
    def objects(self) -> frozenset[ObjectRef]:
        """All objects that it touches."""
        found = {self.root.object, *self.root.about}
        for symptom in self.symptoms:
            found |= {symptom.object, *symptom.about}
        return frozenset(found)


def link(findings: Sequence[Finding]) -> list[Finding]:
    """Set `because_of` of every finding that another one of the list explains.

    Candidates are tried in the order that the rule gave. On the same object only a finding that
    does not itself lean on that object explains; a circle is never closed.
    """
    causes: dict[tuple[str, ObjectRef], Finding] = {}
    for finding in findings:
        cause = _explanation(finding, findings)
        if cause is not None and not _leads_to(cause, finding, causes):
            causes[finding.key] = cause
    return [
        replace(each, because_of=causes[each.key].object) if each.key in causes else each
        for each in findings
    ]


def incidents(findings: Sequence[Finding], subjects: Sequence[ObjectRef] = ()) -> list[Incident]:
    """Group linked findings by root, the most relevant first.

    Relevance: touches what was asked about, then severity, then confidence, then how much it
    explains. `info` findings are left out unless they explain something or are the state of what
    was asked about (a suspended job, a paused rollout).
    """
    causes: dict[tuple[str, ObjectRef], Finding] = {}
    for finding in findings:
        if finding.because_of is not None:
            cause = _explanation(finding, findings)
            if cause is not None:
                causes[finding.key] = cause
    found: dict[tuple[str, ObjectRef], list[Finding]] = {}
    for finding in findings:
        root = finding
        seen = {finding.key}
        while root.key in causes and causes[root.key].key not in seen:
            root = causes[root.key]
            seen.add(root.key)
        members = found.setdefault(root.key, [])
        if root.key != finding.key and finding.severity is not Severity.INFO:
            members.append(finding)
    by_key = {finding.key: finding for finding in findings}
    asked = frozenset(subjects)
    groups = [
        Incident(by_key[key], tuple(members))
        for key, members in found.items()
        if members
        or by_key[key].severity is not Severity.INFO
        or (by_key[key].object in asked and by_key[key].cause not in PAST)
    ]
    groups.sort(key=lambda group: _rank(group, asked))
    return groups


def notes(findings: Sequence[Finding]) -> list[Finding]:
    """Return what was seen and is no incident."""
    explained = {finding.because_of for finding in findings}
    return [
        each
        for each in findings
        if each.severity is Severity.INFO
        and each.because_of is None
        and each.object not in explained
    ]


def _rank(group: Incident, asked: frozenset[ObjectRef]) -> tuple[int, int, int, int]:
    worst = min(_SEVERITY[each.severity] for each in (group.root, *group.symptoms))
    return (
        0 if not asked or asked & group.objects else 1,
        worst,
        # What breaks more comes first, before what is surer: a reader has to act on it.
        -len(group.symptoms),
        _CONFIDENCE[group.root.confidence],
    )


def _explanation(finding: Finding, findings: Sequence[Finding]) -> Finding | None:
    for ref in finding.explained_by:
        for other in findings:
            if other.key == finding.key or other.object != ref or other.severity is Severity.INFO:
                continue
            if ref == finding.object and ref in other.explained_by:
                continue
            return other
    return None


def _leads_to(
    start: Finding, target: Finding, causes: dict[tuple[str, ObjectRef], Finding]
) -> bool:
    at: Finding | None = start
    while at is not None:
        if at.key == target.key:
            return True
        at = causes.get(at.key)
    return False
