"""Asking every question once. What could not run is not a wrong answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from truepenny.errors import TruepennyError
from truepenny.system.clock import Clock, SystemClock

from .answer import Answer, Answerer, Question
from .incident import Incident
from .score import Score, score


@dataclass(frozen=True, slots=True)
class Trial:
    """One incident's result: a score, or the reason why there is none.

    `could_not_run` is empty where the answerer answered (also when it ran out of time, which is
    an answer that nobody got).
    """

    incident: Incident
    answer: Answer | None
    score: Score | None
    could_not_run: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the trial as JSON; `score` is null where nothing was measured."""
        answer = self.answer
        return {
            "incident": self.incident.name,
            "scenario": self.incident.scenario,
            "tags": list(self.incident.tags),
            "score": self.score.to_json() if self.score else None,
            "could_not_run": self.could_not_run,
            "seconds": round(answer.seconds, 3) if answer else None,
            "tool_calls": answer.tool_calls if answer else None,
            "stop": answer.stop if answer else None,
            "claims": dict(answer.claims) if answer and answer.claims is not None else None,
            "answer": answer.text if answer else None,
        }


async def evaluate(
    incidents: Sequence[Incident],
    answerer: Answerer,
    *,
    concurrency: int = 1,
    clock: Clock | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> list[Trial]:
    """Put every question, at most `concurrency` at a time; trials in the order of the incidents.

    `on_trial` is told of each trial as it ends. One that fails never stops the others.
    """
    if concurrency < 1:
        raise ValueError("concurrency is at least 1")
    watch = clock or SystemClock()
    slots = anyio.CapacityLimiter(concurrency)
    trials: list[Trial | None] = [None] * len(incidents)

    async def one(place: int) -> None:
        async with slots:
            trial = await _try(incidents[place], answerer, watch)
        trials[place] = trial
        if on_trial is not None:
            on_trial(trial)

    async with anyio.create_task_group() as group:
        for place in range(len(incidents)):
            group.start_soon(one, place)
    return [trial for trial in trials if trial is not None]


async def _try(incident: Incident, answerer: Answerer, clock: Clock) -> Trial:
    question = Question(incident.name, incident.prompt, incident.scenario)
    began = clock.monotonic()
    answer: Answer | None = None
    try:
        with anyio.move_on_after(incident.limits.seconds):
            answer = await answerer(question)
    except TruepennyError as error:
        return Trial(incident, None, None, f"{type(error).__name__}: {error.message}")
    except Exception as error:
        # An answerer that breaks has answered nothing; the other questions are still asked.
        return Trial(incident, None, None, f"internal: {type(error).__name__}: {error}")
    elapsed = clock.monotonic() - began
    if answer is None:
        late = Answer("", seconds=max(elapsed, incident.limits.seconds), stop="timeout")
        return Trial(incident, late, replace(score(incident, late), over=("seconds",)))
    if not answer.seconds:
        answer = replace(answer, seconds=elapsed)
    return Trial(incident, answer, score(incident, answer))
