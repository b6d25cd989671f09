"""Judging one answer: facts found, claims that must not be there, limits, invented evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truepenny.agent.claim.assertion import claims
from truepenny.agent.evidence import citations

from .answer import Answer
from .incident import Fact, Incident


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one answer.

    `found` and `missing` are the names of required facts; `wrong` maps the names of forbidden
    ones to the words that were matched; `over` names limits that were passed; `invented` are call
    ids that the answer cites and that were never called.
    """

    found: tuple[str, ...]
    missing: tuple[str, ...]
    wrong: Mapping[str, str]
    over: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """Share of required facts, 0 to 1; 0 for an answer that misleads."""
        if self.wrong or self.invented:
            return 0.0
        return len(self.found) / (len(self.found) + len(self.missing))

    @property
    def passed(self) -> bool:
        """Whether everything required is there, nothing forbidden, and within the limits."""
        return not (self.missing or self.wrong or self.over or self.invented)

    def to_json(self) -> dict[str, Any]:
        """Return the score as JSON."""
        return {
            "value": round(self.value, 4),
            "passed": self.passed,
            "found": list(self.found),
            "missing": list(self.missing),
            "wrong": dict(self.wrong),
            "over": list(self.over),
            "invented": list(self.invented),
        }


def score(incident: Incident, answer: Answer) -> Score:
    """Judge an answer; the same answer always gets the same score."""
    has = {fact.name: _says(fact, answer.text) for fact in incident.required}
    wrong = {fact.name: _shows(fact, answer.text) for fact in incident.forbidden}
    over: list[str] = []
    if answer.seconds > incident.limits.seconds:
        over.append("seconds")
    if answer.tool_calls > incident.limits.tool_calls:
        over.append("tool_calls")
    return Score(
        found=tuple(name for name, said in has.items() if said),
        missing=tuple(name for name, said in has.items() if not said),
        wrong={name: words for name, words in wrong.items() if words},
        over=tuple(over),
        invented=_invented(answer),
    )


def _says(fact: Fact, text: str) -> bool:
    return any(pattern.search(text) for pattern in fact.patterns)


def _shows(fact: Fact, text: str) -> str:
    for pattern in fact.patterns:
        if fact.match == "claim":
            words = claims(text, pattern)
        else:
            match = pattern.search(text)
            words = match[0] if match else ""
        if words:
            return words
    return ""


def _invented(answer: Answer) -> tuple[str, ...]:
    if answer.calls is None:
        return ()
    return citations(answer.text, answer.calls).unresolved
