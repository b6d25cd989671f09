"""Builds the report of a turn from what the transcript recorded of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from truepenny.agent.event import RunFinished

from .report import Call, Claims, Hypothesis, Report

_DONE = ("success", "no_match")


def build(
    end: RunFinished, records: Sequence[Mapping[str, Any]], question: str, model: str, time: str
) -> Report:
    """Return the report of the run that ended with `end`. `records` are those of its transcript."""
    hypotheses = msgspec.convert(list(end.hypotheses), tuple[Hypothesis, ...])
    return Report(
        id=end.turn,
        session=end.session,
        time=time,
        model=model,
        question=question,
        answer=end.answer,
        answer_state=end.answer_state,
        stop=end.stop.kind.value + (f": {end.stop.message}" if end.stop.message else ""),
        hypotheses=hypotheses,
        chains=tuple(_chains(hypotheses)),
        claims=msgspec.convert(dict(end.claims), Claims),
        calls=tuple(_calls(records)),
        recorded=end.recorded,
    )


def _chains(hypotheses: Sequence[Hypothesis]) -> Iterator[tuple[str, ...]]:
    """Yield the chains that end in a supported cause which no other supported one explains."""
    held = {one.id: one for one in hypotheses}
    explained = {one.explains for one in hypotheses if one.state == "supported"}
    for one in hypotheses:
        if one.state != "supported" or one.id in explained:
            continue
        chain = [one.id]
        while (above := held[chain[-1]].explains) in held and above not in chain:
            chain.append(above)
        yield tuple(reversed(chain))


def _calls(records: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    asked: dict[str, str] = {}
    for record in records:
        name = str(record.get("call"))
        if record.get("type") == "tool":
            asked[name] = msgspec.json.encode(record.get("arguments")).decode()[:200]
        elif record.get("type") == "result" and record.get("tool") != "hypothesis":
            facts = _mapping(record.get("facts"))
            outcome = str(record.get("outcome"))
            hidden = [n for n in _mapping(facts.get("redactions")).values() if isinstance(n, int)]
            yield Call(
                id=name,
                tool=str(record.get("tool")),
                command=str(facts.get("command") or asked.get(name, "")),
                outcome=outcome,
                gap=_gap(outcome, facts),
                redactions=sum(hidden),
            )


def _gap(outcome: str, facts: Mapping[str, Any]) -> str:
    reason = str(facts.get("reason") or "")
    whole = _mapping(facts.get("completeness"))
    state = str(whole.get("state") or "unknown")
    words: list[str] = []
    if outcome not in _DONE:
        words.append(f"{outcome.replace('_', ' ')}{f' ({reason})' if reason else ''}")
    if state != "complete":
        why = str(whole.get("reason") or "no reason known")
        shown, total = whole.get("shown"), whole.get("total")
        many = f", {shown} of {'unknown' if total is None else total}" if shown is not None else ""
        words.append(f"{state}: {why}{many}")
    return "; ".join(words)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
