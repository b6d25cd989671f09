from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest

from truepenny.model.message import Text
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import ActionClass, CallContext, Tool
from truepenny.tool.decision import Decision, Verdict, deny
from truepenny.tool.invoke import BACKSTOP_BYTES, NOT_WELL, Invocation, invoke
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.registry import Registry
from truepenny.tool.result import Completeness, Facts, Result

from .tools import context, tool

pytestmark = pytest.mark.anyio

SECRET = "hunter2-correct-horse"
OPEN = Policy()


async def call(
    made: Tool,
    arguments: Mapping[str, Any] | None = None,
    *,
    policy: Policy = OPEN,
    name: str = "echo",
    call_context: CallContext | None = None,
    **kwargs: Any,
) -> Invocation:
    return await invoke(
        name,
        {"say": "hi"} if arguments is None else arguments,
        call_context or context(),
        Registry([made]),
        Admission(policy),
        **kwargs,
    )


async def test_what_the_tool_said_comes_back() -> None:
    done = await call(tool(), {"say": "a", "times": 3})
    assert (done.result.outcome, done.result.text) == (Outcome.SUCCESS, "aaa")


async def test_an_unknown_tool_is_an_answer_that_names_the_nearest() -> None:
    done = await call(tool("kubectl"), name="kubctl")
    assert done.result.outcome is Outcome.INVALID_ARGUMENTS
    assert done.result.facts.reason == "unknown_tool"
    assert "kubectl" in done.result.facts.hint


async def test_bad_arguments_name_every_field_and_nothing_runs() -> None:
    async def never(arguments: Mapping[str, Any], context: CallContext) -> Result:
        raise AssertionError("ran")

    done = await call(tool(run=never), {"say": 1, "times": 0, "more": True})
    assert done.result.outcome is Outcome.INVALID_ARGUMENTS
    # As a model writes a call, so that it can be sent as it stands.
    assert done.result.facts.hint.endswith('{"say": "hello"}')
    problems = "\n".join(done.result.facts.detail["problems"])
    assert "say:" in problems
    assert "times:" in problems
    assert "more" in problems


async def test_a_huge_wrong_argument_is_not_repeated_back() -> None:
    done = await call(tool(), {"say": ["x" * 100_000]})
    assert len(done.result.text) < 2000


async def test_a_denied_call_does_not_run_and_says_why() -> None:
    own = deny("verb_not_allowed", "delete is not a read", rule="verbs", hint="get pods")
    done = await call(tool(judge=lambda arguments: own))
    assert done.result.outcome is Outcome.REFUSED
    assert done.result.facts.reason == "verb_not_allowed"
    assert done.result.facts.hint == "get pods"
    assert done.decision == own


@pytest.mark.parametrize("answer", [True, False])
async def test_a_person_decides_about_exactly_this_call(answer: bool) -> None:
    asked: list[Mapping[str, Any]] = []

    async def ask(made: Tool, arguments: Mapping[str, Any], decision: Decision) -> bool:
        asked.append(arguments)
        return answer

    writer = tool(action_class=ActionClass.WRITE)
    done = await call(writer, policy=Policy(human=True), ask=ask)
    assert asked == [{"say": "hi"}]
    assert done.result.outcome is (Outcome.SUCCESS if answer else Outcome.REFUSED)
    if not answer:
        assert done.decision.reason == "person_declined"


async def test_the_record_comes_before_the_run_and_can_stop_it() -> None:
    order: list[str] = []

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        order.append("run")
        return Result(Outcome.SUCCESS)

    async def record(made: Tool, decision: Decision) -> Decision:
        order.append("record")
        return decision

    await call(tool(run=run), before_run=record)
    assert order == ["record", "run"]

    async def cannot(made: Tool, decision: Decision) -> Decision:
        return deny("not_recorded", "the disk is full")

    done = await call(tool(run=run), before_run=cannot)
    assert order == ["record", "run"]
    assert done.result.facts.reason == "not_recorded"


async def test_a_call_over_its_time_is_interrupted_and_its_reach_unknown() -> None:
    async def hang(arguments: Mapping[str, Any], context: CallContext) -> Result:
        await anyio.sleep_forever()
        raise AssertionError

    done = await call(tool(run=hang, timeout=0.01))
    assert done.result.outcome is Outcome.INTERRUPTED
    assert done.result.facts.cause is Cause.TIMEOUT
    assert done.result.facts.completeness.state == "unknown"


async def test_a_fault_inside_is_ours_and_carries_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    redactor = Redactor()
    redactor.learn(SECRET, "test")

    async def broken(arguments: Mapping[str, Any], context: CallContext) -> Result:
        raise RuntimeError(f"cannot log in with {SECRET}")

    done = await call(tool(run=broken), call_context=context(redactor))
    assert done.result.outcome is Outcome.INTERNAL_ERROR
    assert done.result.facts.reason == "RuntimeError"
    assert SECRET not in done.result.text
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text


async def test_a_secret_reaches_no_part_of_a_result() -> None:
    redactor = Redactor()
    redactor.learn(SECRET, "test")

    async def leak(arguments: Mapping[str, Any], context: CallContext) -> Result:
        facts = Facts(
            command=f"curl -u x:{SECRET}", hint=f"try {SECRET}", detail={"a": [SECRET]},
            source={"url": f"https://h/{SECRET}"}, reason=f"no_{SECRET}",
            completeness=Completeness("partial", f"for {SECRET}", next=f"--token={SECRET}"),
        )  # fmt: skip
        return Result(Outcome.SUCCESS, (Text(f"token is {SECRET}"),), facts)

    done = await call(tool(run=leak), call_context=context(redactor))
    assert SECRET not in repr(done.result)
    assert sum(done.result.facts.redactions.values()) >= 2


async def test_no_result_is_larger_than_the_backstop_and_the_cut_is_a_fact() -> None:
    async def flood(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return Result(Outcome.SUCCESS, (Text("line of text\n" * 500_000),))

    result = (await call(tool(run=flood))).result
    assert len(result.text.encode()) <= BACKSTOP_BYTES
    assert result.facts.completeness.state == "partial"
    assert result.facts.bytes.discarded > 0


async def test_the_duration_is_measured_by_the_clock() -> None:
    async def work(arguments: Mapping[str, Any], context: CallContext) -> Result:
        await context.clock.sleep(1.5)
        return Result(Outcome.SUCCESS)

    assert (await call(tool(run=work))).result.facts.duration == 1.5


async def test_cancelling_the_caller_stops_the_tool() -> None:
    stopped = anyio.Event()

    async def hang(arguments: Mapping[str, Any], context: CallContext) -> Result:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        raise AssertionError

    with anyio.move_on_after(0.01):
        await call(tool(run=hang))
    assert stopped.is_set()


async def test_an_approval_is_recorded_as_what_let_the_call_run() -> None:
    async def yes(made: Tool, arguments: Mapping[str, Any], decision: Decision) -> bool:
        return True

    writer = tool(action_class=ActionClass.WRITE)
    done = await call(writer, policy=Policy(human=True), ask=yes)
    assert done.decision.verdict is Verdict.ALLOW
    assert replace(done.decision, verdict=Verdict.ASK).reason == "needs_approval"


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_only_a_target_that_had_its_say_is_complete(outcome: Outcome) -> None:
    async def ends(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return Result(outcome, (Text("x"),))

    whole = (await call(tool(run=ends))).result.facts.completeness
    state = whole.state
    had_its_say = outcome in (Outcome.SUCCESS, Outcome.NO_MATCH, Outcome.TARGET_FAILED)
    assert state == ("complete" if had_its_say else "unknown")
    # The outcome stands in the same line: the reason says something else.
    assert whole.reason == ("" if had_its_say else NOT_WELL)
