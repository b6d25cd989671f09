"""The result of a look at a web page's files."""

from __future__ import annotations

from typing import Any

from truepenny.execute.ending import Outcome
from truepenny.model.message import Text
from truepenny.tool.result import Completeness, Facts, Result

from .check import FRONTEND
from .frontend import Look
from .judgement import Ran, Validation, axes, axes_lines
from .page_finding import Finding, Status

MAX_SHOWN = 100
"""Answers in the text, the worst first; the rest are counted."""

_ORDER = [Status.FAIL, Status.WARN, Status.SKIP, Status.PASS]


def frontend_result(path: str, seen: Look) -> Result:
    """Say what was seen. One `fail` fails it; without a `pass` nothing was validated."""
    counts = seen.counts()
    if counts[Status.FAIL]:
        validation, outcome, reason = Validation.FAILED, Outcome.TARGET_FAILED, "frontend"
    elif counts[Status.PASS] or counts[Status.WARN]:
        validation, outcome, reason = Validation.PASSED, Outcome.SUCCESS, ""
    else:
        validation, outcome, reason = Validation.NOT_RUN, Outcome.NO_MATCH, "nothing_to_check"
    shown = sorted(seen.findings, key=lambda one: _ORDER.index(one.status))[:MAX_SHOWN]
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    why = "nothing was looked at" if validation is Validation.NOT_RUN else ""
    lines = [f"{FRONTEND} {path}", *axes_lines(Ran.SUCCEEDED, validation, why), f"answers: {told}"]
    lines += [_line(one) for one in shown]
    if len(shown) < len(seen.findings):
        lines.append(f"... {len(seen.findings) - len(shown)} further answers")
    if seen.rest:
        lines.append(f"not all files were looked at: {seen.rest}")
    detail: dict[str, Any] = {
        "check": FRONTEND,
        "kind": FRONTEND,
        "place": "built in",
        **axes(Ran.SUCCEEDED, validation),
        "counts": counts,
        "answers": [one.to_json() for one in shown],
    }
    facts = Facts(
        completeness=_completeness(seen, counts[Status.SKIP], len(shown)),
        reason=reason,
        detail=detail,
    )
    if seen.containment is not None:
        facts = Facts(
            completeness=facts.completeness,
            reason=reason,
            detail=detail,
            sandbox=str(seen.containment.level),
            containment=seen.containment.facts(),
        )
    return Result(outcome, (Text("\n".join(lines) + "\n"),), facts)


def _completeness(seen: Look, skipped: int, shown: int) -> Completeness:
    total = len(seen.findings)
    if seen.rest:
        return Completeness("partial", seen.rest, "answers", shown)
    if skipped:
        return Completeness("partial", f"{skipped} skipped", "answers", shown, total)
    if shown < total:
        return Completeness("partial", "more answers than are shown", "answers", shown, total)
    return Completeness()


def _line(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{finding.status} {place} {finding.aspect}: {finding.message}"
