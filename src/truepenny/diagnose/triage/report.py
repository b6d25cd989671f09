"""Writes an examination down for a model or a person: findings first, then the reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from truepenny.text.bound import Limits, bound

from .coverage import Coverage
from .engine import Examination
from .finding import Finding
from .link import Incident

REPORT_BYTES = 16 * 1024
"""A report is read whole by a model; the typed findings in the facts have everything."""


def report(examination: Examination, coverage: Coverage) -> str:
    """Return the report as plain text, at most `REPORT_BYTES` long."""
    return bound("\n".join(_lines(examination, coverage)), Limits(bytes=REPORT_BYTES)).text


def verdict(incidents: Sequence[Incident], coverage: Coverage) -> str:
    """Return one sentence; it never says that what was not read is well."""
    if incidents:
        symptoms = sum(len(each.symptoms) for each in incidents)
        found = "1 problem" if len(incidents) == 1 else f"{len(incidents)} problems"
        return f"{found} found" + (f" ({symptoms} symptoms folded under them)" if symptoms else "")
    if not coverage.counts:
        return "nothing could be read, so nothing is known"
    if coverage.gaps:
        return "no problem found in what could be read; not everything could be"
    return "no problem found"


def _lines(examination: Examination, coverage: Coverage) -> Iterator[str]:
    yield f"{verdict(examination.incidents, coverage)}."
    yield f"looked at: {coverage.sentence()}"
    if coverage.counts and (back := coverage.reach_back()):
        yield f"reaches back: {back}"
    for line in coverage.missing():
        yield f"not checked: {line}"
    for need in examination.needs:
        yield f"not read (budget): {need.command}"
    for number, incident in enumerate(examination.incidents, 1):
        yield ""
        yield from _incident(number, incident)
    for note in examination.notes:
        yield ""
        yield f"no incident: {note.sentence}"
        yield from _evidence(note)
        for line in note.not_checked:
            yield f"   not checked: {line}"


def _incident(number: int, incident: Incident) -> Iterator[str]:
    root = incident.root
    yield f"{number}. [{root.severity}] {root.object}: {root.cause}"
    yield f"   {root.sentence}"
    yield f"   confidence: {root.confidence} ({root.sure_because})"
    yield from _evidence(root)
    for line in root.not_checked:
        yield f"   not checked: {line}"
    for symptom in incident.symptoms:
        yield f"   explains: {symptom.sentence} [{symptom.cause}]"
        yield from _evidence(symptom)
    for step in root.steps:
        yield f"   next: {step.text}{f' {step.command}' if step.command else ''}"


def _evidence(finding: Finding) -> Iterator[str]:
    for quote in finding.evidence:
        yield f'   evidence [{quote.source}] {quote.command}: "{quote.excerpt}"'
