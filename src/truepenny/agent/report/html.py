"""A report as one HTML file that loads nothing: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from . import words
from .report import Hypothesis, Report

_STYLE = """\
:root{color-scheme:light dark;--line:#8884;--warn:#b45309;--bad:#b91c1c;--good:#15803d}
body{font:16px/1.55 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.1rem;margin-top:2rem;
border-bottom:1px solid var(--line)}
code{font:0.9em ui-monospace,monospace;overflow-wrap:anywhere}
.meta,.state{color:GrayText;font-size:.9em}.bad{color:var(--bad);font-weight:600}
.answer{white-space:pre-wrap;overflow-wrap:anywhere}
mark{background:none;color:inherit;text-decoration:underline wavy var(--warn) 1px;
text-underline-offset:3px}mark.not_contained{text-decoration-color:var(--bad)}
mark small{color:var(--warn);font-weight:600}mark.not_contained small{color:var(--bad)}
ol.chain{list-style:none;padding-left:0}ol.chain li+li::before{content:"↑ because ";color:GrayText}
table{border-collapse:collapse;width:100%;font-size:.9em}
td,th{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid var(--line)}
.success{color:var(--good)}
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing that a target wrote can load or run anything, even if escaping ever failed."""


def html(report: Report) -> str:
    """Return the report. Every text in it is escaped."""
    title = f"Investigation: {report.question}"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            *_body(report),
            "</body></html>\n",
        ]
    )


def _body(report: Report) -> Iterator[str]:
    yield f"<h1>{escape(report.question)}</h1>"
    meta = f"{report.time} · model {report.model} · session {report.session}"
    yield f'<p class="meta">{escape(meta)}</p>'
    if bad := words.ending(report):
        yield f'<p class="bad">{escape(bad)}</p>'
    yield f"<p>{escape(words.summary(report))}</p>"
    yield f'<h2>Answer</h2><div class="answer">{_answer(report)}</div>'
    yield "<h2>From the symptom to the cause</h2>"
    for chain in report.chains:
        held = [one for one in map(report.hypothesis, chain) if one is not None]
        yield f'<ol class="chain">{"".join(map(_item, held))}</ol>'
    if not report.chains:
        yield "<p>No hypothesis was supported, so there is no chain.</p>"
    for title, states, none in (
        ("Ruled out", ("rejected",), "Nothing was ruled out."),
        ("Undecided", ("unresolved", "open"), "No hypothesis is undecided."),
    ):
        found = [one for one in report.hypotheses if one.state in states]
        listed = f"<ul>{''.join(map(_item, found))}</ul>" if found else f"<p>{none}</p>"
        yield f"<h2>{title}</h2>{listed}"
    yield "<h2>Not seen</h2>"
    for call in report.gaps:
        said = f"<code>{escape(call.command)}</code>: {escape(words.gap(call))}"
        yield f"<p>[{escape(call.id)}] {said}</p>"
    if not report.gaps:
        yield "<p>Every call showed all of what it was asked for.</p>"
    if checks := list(words.next_checks(report)):
        items = "".join(
            f"<li>{escape(one.id)}: <code>{escape(one.next_check)}</code></li>" for one in checks
        )
        yield f"<h2>What would decide it</h2><ul>{items}</ul>"
    rows = "".join(
        f'<tr id="{escape(call.id)}"><td>{escape(call.id)}</td>'
        f"<td><code>{escape(call.command)}</code></td>"
        f'<td class="{escape(call.outcome)}">{escape(call.outcome)}</td></tr>'
        for call in report.calls
    )
    yield (
        "<h2>Calls</h2><table><thead><tr><th>call</th><th>command</th><th>outcome</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _item(one: Hypothesis) -> str:
    return f'<li>{escape(one.claim)} <span class="state">({escape(words.state(one))})</span></li>'


def _answer(report: Report) -> str:
    """Return the answer, marked where a sentence rests on nothing."""
    parts: list[str] = []
    at = 0
    for one in report.claims.sentences:
        if one.verdict not in words.MARKS or not at <= one.start <= one.end <= len(report.answer):
            continue
        parts.append(escape(report.answer[at : one.start]))
        why = f"{words.MARKS[one.verdict]}{': ' + ', '.join(one.missing) if one.missing else ''}"
        said = escape(report.answer[one.start : one.end])
        parts.append(
            f'<mark class="{escape(one.verdict)}">{said} <small>{escape(why)}</small></mark>'
        )
        at = one.end
    parts.append(escape(report.answer[at:]))
    if report.claims.omitted:
        parts.append(f"\n\n({report.claims.omitted} more sentences were not marked one by one.)")
    return "".join(parts)
