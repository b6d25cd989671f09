"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from . import words
from .report import Report


def markdown(report: Report) -> str:
    """Return the report. Text from targets stands in code spans, where it does nothing."""
    return "\n".join(_lines(report)) + "\n"


def code(text: str) -> str:
    """Quote text that anybody may have written."""
    flat = " ".join(text.replace("`", "'").split())
    return f"`{flat}`" if flat else "``"


def _lines(report: Report) -> Iterator[str]:
    yield f"# Investigation: {code(report.question)}"
    yield from ["", f"{report.time}, model {report.model}, session {report.session}", ""]
    if bad := words.ending(report):
        yield from [f"**{bad}**", ""]
    yield words.summary(report)
    yield from ["", "## Answer", "", _marked(report)]
    yield from ["", "## From the symptom to the cause", ""]
    for chain in report.chains:
        held = [one for one in map(report.hypothesis, chain) if one is not None]
        yield from (
            f"{'  ' * depth}- {'because ' if depth else ''}{code(one.claim)} ({words.state(one)})"
            for depth, one in enumerate(held)
        )
    if not report.chains:
        yield "No hypothesis was supported, so there is no chain."
    for title, state, none in (
        ("Ruled out", "rejected", "Nothing was ruled out."),
        ("Undecided", "unresolved open", "No hypothesis is undecided."),
    ):
        found = [one for one in report.hypotheses if one.state in state.split()]
        yield from ["", f"## {title}", ""]
        yield from (f"- {code(one.claim)} ({words.state(one)})" for one in found)
        if not found:
            yield none
    yield from ["", "## Not seen", ""]
    yield from (f"- [{one.id}] {code(one.command)}: {words.gap(one)}" for one in report.gaps)
    if not report.gaps:
        yield "Every call showed all of what it was asked for."
    if checks := list(words.next_checks(report)):
        yield from ["", "## What would decide it", ""]
        yield from (f"- {one.id}: {code(one.next_check)}" for one in checks)
    yield from ["", "## Calls", "", "| call | command | outcome |", "|---|---|---|"]
    for call in report.calls:
        yield f"| {call.id} | {code(call.command).replace('|', chr(92) + '|')} | {call.outcome} |"


def _marked(report: Report) -> str:
    """Return the answer with a mark after each sentence that rests on nothing."""
    parts: list[str] = []
    at = 0
    for one in report.claims.sentences:
        if one.verdict in words.MARKS and at <= one.end <= len(report.answer):
            parts += [report.answer[at : one.end], f" ⟨{words.MARKS[one.verdict]}⟩"]
            at = one.end
    more = report.claims.omitted
    tail = f"\n\n({more} more sentences were not marked one by one.)" if more else ""
    return "".join([*parts, report.answer[at:], tail])
