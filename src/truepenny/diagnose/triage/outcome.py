"""What a triage call came to: its report as a result with typed facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truepenny.model.message import Text
from truepenny.text.bound import utf8_length
from truepenny.tool.outcome import Leg, Outcome
from truepenny.tool.result import Completeness, Facts, Result

from .coverage import Coverage, coverage
from .engine import Examination
from .evidence import Evidence
from .query import Query
from .reads import Reads
from .report import report
from .subject import Subject


def outcome_of(
    examination: Examination,
    evidence: Evidence,
    reads: Reads,
    source: Mapping[str, str],
    subject: Subject | None = None,
    missing: str = "",
    *,
    notice: str = "",
) -> Result:
    """Return the result; `missing` says that what was asked about is not there, `notice` what is
    otherwise wrong in the question."""
    reach = coverage(evidence, examination.gaps)
    text = report(examination, reach)
    for said in (notice, missing):
        text = f"{said}.\n{text}" if said else text
    outcome, reason, leg = _ended(evidence, reads, missing)
    facts = Facts(
        completeness=_completeness(examination, evidence, reach),
        redactions=dict(reads.redactions),
        bytes=reads.bytes(utf8_length(text)),
        reason=reason,
        leg=leg,
        source=dict(source),
        detail=_detail(examination, evidence, reach, subject),
    )
    return Result(outcome, (Text(text),), facts)


def _ended(evidence: Evidence, reads: Reads, missing: str) -> tuple[Outcome, str, Leg | None]:
    """Return outcome, reason and leg: of the reads themselves where none was answered."""
    if any(read.status.readable for read in evidence.reads):
        if missing:
            return Outcome.TARGET_FAILED, "not_found", None
        return Outcome.SUCCESS, "", None
    if len(reads.outcomes) == 1:
        ((ended, _),) = reads.outcomes.items()
        if ended[0].failed:
            return ended
    return Outcome.CHANNEL_FAILED, "nothing_readable", None


def _completeness(examination: Examination, evidence: Evidence, reach: Coverage) -> Completeness:
    answered = sum(read.status.readable for read in evidence.reads)
    total = len(evidence.reads) + len(examination.needs)
    if not answered:
        return Completeness("unknown", "no read was answered", "reads", 0, total)
    if not reach.gaps and not examination.needs:
        return Completeness()
    reason = "; ".join(reach.missing()) or "the budget of reads was spent"
    return Completeness("partial", reason[:500], "reads", answered, total)


def _detail(
    examination: Examination, evidence: Evidence, reach: Coverage, subject: Subject | None
) -> dict[str, Any]:
    return {
        "findings": [each.to_json() for each in examination.findings],
        "incidents": [
            {
                "root": each.root.object._asdict(),
                "cause": each.root.cause,
                "symptoms": [s.object._asdict() | {"cause": s.cause} for s in each.symptoms],
            }
            for each in examination.incidents
        ],
        "notes": [each.to_json() for each in examination.notes],
        "subject": [ref._asdict() for ref in subject.objects] if subject else [],
        "coverage": reach.to_json(),
        "reads": [
            {"id": read.id, "command": Query(read.argv).command, "status": str(read.status)}
            for read in evidence.reads
        ],
    }
