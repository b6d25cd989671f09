"""Asking: order, concurrency, time limits, and answers that never came."""

from __future__ import annotations

import re

import anyio
import pytest

from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.evaluate.answer import Answer, Question
from truepenny.evaluate.incident import Fact, Incident, Limits
from truepenny.evaluate.report import UNMEASURED, Report
from truepenny.evaluate.trial import Trial, evaluate
from truepenny.system.clock import ManualClock

pytestmark = pytest.mark.anyio


def incident(name: str, *tags: str, limits: Limits | None = None) -> Incident:
    required = (Fact("cause", (re.compile("because"),)), Fact("root", (re.compile(name),)))
    forbidden = (Fact("panic", (re.compile("delete"),)),)
    return Incident(name, "healthy", f"why {name}?", required, forbidden, tags, limits or Limits())


async def full(question: Question) -> Answer:
    return Answer(
        f"{question.incident} because [call_1]", calls=frozenset({"call_1"}), tool_calls=1
    )


async def test_answers_come_in_the_order_of_the_incidents() -> None:
    begun: list[str] = []
    first_may_end = anyio.Event()

    async def answerer(question: Question) -> Answer:
        begun.append(question.incident)
        if question.incident == "a":
            await first_may_end.wait()
        else:
            first_may_end.set()
        return await full(question)

    ended: list[str] = []
    trials = await evaluate(
        [incident("a"), incident("b")],
        answerer,
        concurrency=2,
        on_trial=lambda trial: ended.append(trial.incident.name),
    )
    assert [trial.incident.name for trial in trials] == ["a", "b"]
    assert ended == ["b", "a"]
    assert all(trial.score is not None and trial.score.passed for trial in trials)


async def test_no_more_than_asked_run_at_once() -> None:
    running = most = 0

    async def answerer(question: Question) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.lowlevel.checkpoint()
        running -= 1
        return await full(question)

    await evaluate([incident(str(n)) for n in range(6)], answerer, concurrency=2)
    assert most == 2


async def test_what_could_not_run_is_no_zero_and_stops_nobody() -> None:
    async def answerer(question: Question) -> Answer:
        if question.incident == "a":
            raise CouldNotRun("no kubectl here")
        if question.incident == "b":
            raise KeyError("broken")
        return await full(question)

    trials = await evaluate([incident("a", "x"), incident("b", "y"), incident("c", "x")], answerer)
    assert [trial.score is None for trial in trials] == [True, True, False]
    assert trials[0].could_not_run.startswith("CouldNotRun")
    assert trials[1].could_not_run.startswith("internal: KeyError")
    report = Report("someone", tuple(trials))
    assert report.passed is False
    assert (report.total.ran, report.total.passed, report.total.could_not_run) == (1, 1, 2)
    assert report.total.mean == 1.0
    assert {one.name: one.mean for one in report.tags} == {"x": 1.0, "y": None}


async def test_a_late_answer_scores_zero() -> None:
    async def answerer(question: Question) -> Answer:
        await anyio.sleep_forever()
        raise AssertionError

    [trial] = await evaluate([incident("a", limits=Limits(seconds=0.01))], answerer)
    assert trial.score is not None and trial.answer is not None
    assert (trial.score.value, trial.score.over, trial.answer.stop) == (
        0.0,
        ("seconds",),
        "timeout",
    )


async def test_limits_on_tool_calls_fail_a_right_answer() -> None:
    [trial] = await evaluate([incident("a", limits=Limits(tool_calls=0))], full)
    assert trial.score is not None
    assert (trial.score.value, trial.score.passed) == (1.0, False)
    assert trial.score.over == ("tool_calls",)


async def test_time_is_measured_where_the_answerer_does_not_say() -> None:
    clock = ManualClock()

    async def answerer(question: Question) -> Answer:
        clock.advance(2.5)
        return await full(question)

    [trial] = await evaluate([incident("a")], answerer, clock=clock)
    assert trial.answer is not None and trial.answer.seconds == 2.5


async def test_a_misleading_answer_is_worth_nothing() -> None:
    async def answerer(question: Question) -> Answer:
        return Answer("a because; now delete everything", calls=frozenset())

    [trial] = await evaluate([incident("a")], answerer)
    assert trial.score is not None
    assert trial.score.value == 0.0 and dict(trial.score.wrong) == {"panic": "delete"}


async def test_citing_a_call_that_never_ran_is_worth_nothing() -> None:
    async def answerer(question: Question) -> Answer:
        return Answer("a because [call_7]", calls=frozenset({"call_1"}))

    async def unknowing(question: Question) -> Answer:
        return Answer("a because [call_7]")

    [trial] = await evaluate([incident("a")], answerer)
    assert trial.score is not None and trial.score.invented == ("call_7",)
    assert trial.score.value == 0.0
    [trial] = await evaluate([incident("a")], unknowing)
    assert trial.score is not None and trial.score.passed


async def test_nothing_to_run_is_unmeasured_not_passed() -> None:
    async def answerer(question: Question) -> Answer:
        raise ConfigurationError("no such model")

    for trials in ([], await evaluate([incident("a")], answerer)):
        report = Report("nobody", tuple(trials))
        assert report.passed is None
        assert report.total.mean is None
        assert UNMEASURED in report.table()
        assert report.to_json()["total"]["mean"] is None


async def test_at_least_one_at_a_time() -> None:
    with pytest.raises(ValueError):
        await evaluate([], full, concurrency=0)


async def test_tables_have_one_row_an_incident_and_safe_cells() -> None:
    trials = await evaluate([incident("a", "x"), incident("b", "x")], full)
    broken = Trial(incident("c", "x"), None, None, "CouldNotRun: a | b\nc")
    report = Report("someone", (*trials, broken))
    lines = report.markdown().splitlines()
    assert len(lines) == 1 + 1 + 3 + 1 + 1 + 1 + 2
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line}
    assert columns == {7, 6}
    assert len(report.table().splitlines()) == 1 + 3 + 1 + 1 + 2
    names = [trial["incident"] for trial in report.to_json()["trials"]]
    assert names == ["a", "b", "c"]
