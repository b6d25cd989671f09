"""Who answers: any async function from a question to an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the prompt, and the practice scenario that the answerer must look into."""

    incident: str
    prompt: str
    scenario: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    `seconds` is wall time. `calls` holds the ids of the tool calls that really ran, None where
    the answerer does not know them: then citations are not checked. `stop` is the machine word
    for why the turn ended. `claims` counts its sentences by verdict
    (`truepenny.agent.claim.verdict`), None where nobody checked them.
    """

    text: str
    seconds: float = 0.0
    tool_calls: int = 0
    calls: frozenset[str] | None = None
    stop: str = ""
    claims: Mapping[str, int] | None = None


Answerer = Callable[[Question], Awaitable[Answer]]
"""Raises `truepenny.errors.TruepennyError` when it could not run, which is no answer at all."""
