"""The sentences that every form of a report says alike."""

from __future__ import annotations

from collections.abc import Iterator

from .report import Call, Hypothesis, Report

MARKS = {
    "not_contained": "not in what it cites",
    "uncited": "cites no call",
    "unknown": "could not be looked up",
}
"""What a reader is told of a sentence, by verdict. Others carry no mark."""


def summary(report: Report) -> str:
    """Return in one sentence how much of the answer was found in what it cites."""
    counts = report.claims.counts
    asserted = sum(counts.values()) - counts.get("no_observation", 0)
    return (
        f"{counts.get('contained', 0)} of {asserted} sentences that assert something were found in "
        f"the calls they cite; {counts.get('not_contained', 0)} were not, "
        f"{counts.get('uncited', 0)} cite no call, "
        f"{counts.get('unknown', 0)} could not be looked up."
    )


def ending(report: Report) -> str:
    """Return what is wrong with the run as a whole, "" if nothing is."""
    if report.answer_state == "final" and report.recorded:
        return ""
    said = f"This run did not end with a whole answer ({report.stop})."
    if report.answer_state == "final":
        said = "Some of this run could not be recorded."
    return said


def state(one: Hypothesis) -> str:
    """Return the state and the evidence on both sides."""
    sides = [f"for: {', '.join(one.supports)}"] if one.supports else []
    sides += [f"against: {', '.join(one.against)}"] if one.against else []
    return "; ".join([f"{one.state}, confidence {one.confidence}", *sides])


def gap(call: Call) -> str:
    """Return what a call did not show."""
    hidden = f"{call.redactions} redacted values" if call.redactions else ""
    return "; ".join(part for part in (call.gap, hidden) if part)


def next_checks(report: Report) -> Iterator[Hypothesis]:
    """Yield the undecided hypotheses that say what would decide them."""
    for one in report.hypotheses:
        if one.state in ("open", "unresolved") and one.next_check:
            yield one
