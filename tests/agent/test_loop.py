"""The loop: what one prompt turns into, and every way it can end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from truepenny.agent import event as ev
from truepenny.agent.limits import Limits, RetryPolicy
from truepenny.agent.stop import StopKind
from truepenny.agent.transcript import read_transcript
from truepenny.errors import UsageError
from truepenny.model.event import Learned, MessageEnd, Quirk, StreamFailed, TextDelta, ThinkingDelta
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.message import (
    AssistantMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from truepenny.model.usage import Usage
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result

from .scripted import calls, fails, says
from .world import BOOM, ECHO, SLOW_WRITE, TEXT, agent_with, collect, of_type

pytestmark = pytest.mark.anyio


def finished(events: list[Any]) -> ev.RunFinished:
    assert isinstance(events[-1], ev.RunFinished)
    assert len(of_type(events, ev.RunFinished)) == 1
    return events[-1]


async def test_a_prompt_becomes_calls_results_and_an_answer(tmp_path: Path) -> None:
    script = [calls(("c1", "echo", {"text": "hi"}), text="Looking."), says("It says hi [c1].")]
    async with agent_with(tmp_path, script) as (agent, model):
        events = await collect(agent)
    assert [event.type for event in events] == [
        "run_started", "turn_started", "model_started", "text_delta",
        "tool_started", "tool_progress", "tool_finished",
        "model_started", "text_delta", "turn_finished", "run_finished",
    ]  # fmt: skip
    end = finished(events)
    assert end.stop.kind is StopKind.COMPLETED and end.stop.exit_code == 0
    assert end.answer == "It says hi [c1]." and end.answer_state == "final"
    assert end.evidence == {"resolved": ("c1",), "unresolved": ()}
    assert end.totals["requests"] == 2 and end.totals["outcomes"] == {"success": 1}
    last = model.seen[1][-1]
    assert isinstance(last, ToolResultMessage) and last.call_id == "c1" and not last.failed


async def test_every_request_carries_the_same_list_and_the_same_schemas(tmp_path: Path) -> None:
    script = [calls(("c1", "echo", {})), calls(("c2", "echo", {"text": "x"})), says("done")]
    async with agent_with(tmp_path, script) as (agent, model):
        await collect(agent)
    assert len({id(request.messages) for request in model.requests}) == 1
    assert len({id(request.tools) for request in model.requests}) == 1
    for earlier, later in zip(model.seen, model.seen[1:], strict=False):
        assert later[: len(earlier)] == earlier, "each request extends the one before"


@pytest.mark.parametrize(
    ("call", "outcome", "reason"),
    [
        (ToolCall("c1", "nope", {}), Outcome.INVALID_ARGUMENTS, "unknown_tool"),
        (ToolCall("c1", "echo", {"other": 1}), Outcome.INVALID_ARGUMENTS, "arguments"),
        (
            ToolCall("c1", "echo", None, raw='{"text": ', problem="cut off"),
            Outcome.INVALID_ARGUMENTS,
            "malformed_arguments",
        ),
        (ToolCall("c1", "boom", {}), Outcome.INTERNAL_ERROR, "RuntimeError"),
        (ToolCall("c1", "write", {}), Outcome.REFUSED, "nobody_to_ask"),
    ],
)
async def test_a_call_that_cannot_be_used_is_answered_and_the_turn_goes_on(
    tmp_path: Path, call: ToolCall, outcome: Outcome, reason: str
) -> None:
    script = [AssistantMessage((call,), StopReason.TOOL_USE), says("sorry")]
    async with agent_with(tmp_path, script, ECHO, BOOM, SLOW_WRITE) as (agent, model):
        events = await collect(agent)
    [done] = of_type(events, ev.ToolFinished)
    [started] = of_type(events, ev.ToolStarted)
    assert (done.outcome, done.facts["reason"]) == (outcome.value, reason)
    assert started.runs is (outcome is Outcome.INTERNAL_ERROR)
    last = model.seen[1][-1]
    assert isinstance(last, ToolResultMessage) and last.failed
    assert finished(events).stop.completed


async def test_calls_of_a_message_cut_at_its_token_limit_never_run(tmp_path: Path) -> None:
    ran: list[str] = []

    async def note(arguments: Any, context: Any) -> Result:
        ran.append(context.call_id)
        return Result(Outcome.SUCCESS)

    tool = Tool("note", "Notes.", TEXT, note)
    script = [calls(("c1", "note", {}), stop=StopReason.MAX_TOKENS), says("ok")]
    async with agent_with(tmp_path, script, tool) as (agent, _):
        events = await collect(agent)
    assert ran == []
    assert of_type(events, ev.ToolFinished)[0].facts["reason"] == "message_cut"


async def test_an_answer_cut_at_its_token_limit_is_not_called_complete(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [says("half an ans", stop=StopReason.MAX_TOKENS)]) as (
        agent,
        _,
    ):
        end = finished(await collect(agent))
    assert end.stop.kind is StopKind.CUT_ANSWER
    assert (end.answer, end.answer_state) == ("half an ans", "partial")
    assert end.stop.exit_code == 1


async def test_an_empty_answer_is_asked_for_again_and_then_is_an_error(tmp_path: Path) -> None:
    thinking = AssistantMessage((Thinking("hm"),), StopReason.END_TURN, usage=Usage(input_tokens=5))
    async with agent_with(tmp_path, [thinking, says("now")]) as (agent, _):
        events = await collect(agent)
    assert finished(events).answer == "now"
    assert [retry.kind for retry in of_type(events, ev.Retry)] == ["empty_response"]
    async with agent_with(tmp_path / "b", [thinking], repeat=True) as (agent, model):
        end = finished(await collect(agent))
    assert end.stop.kind is StopKind.EMPTY_ANSWER and end.answer_state == "none"
    assert len(model.requests) == 3, "its own budget, two more"
    assert end.totals["usage"]["input_tokens"] == 15, "tokens of empty answers count"


async def test_a_refusal_ends_the_turn_and_stays_out_of_the_history(tmp_path: Path) -> None:
    script = [says("I cannot.", stop=StopReason.REFUSAL), says("fine")]
    async with agent_with(tmp_path, script) as (agent, model):
        first = finished(await collect(agent))
        await collect(agent, "something else")
    assert first.stop.kind is StopKind.REFUSED and first.answer_state == "partial"
    assert all(isinstance(message, UserMessage) for message in model.seen[1])


async def test_a_passing_failure_is_retried_and_its_hint_honoured(tmp_path: Path) -> None:
    script = [
        fails(FailureKind.RATE_LIMIT, retry_after=7.0),
        fails(FailureKind.OVERLOADED, retry_after=3600.0),
        fails(FailureKind.NETWORK),
        says("at last"),
    ]
    async with agent_with(tmp_path, script) as (agent, _):
        events = await collect(agent)
        waited = agent.setup.clock.monotonic()
    assert [retry.delay for retry in of_type(events, ev.Retry)] == [7.0, 60.0, 20.0]
    assert waited == 87.0
    assert finished(events).answer == "at last"


@pytest.mark.parametrize(
    ("kind", "exit_code"),
    [
        (FailureKind.AUTH, 3),
        (FailureKind.MODEL_NOT_FOUND, 3),
        (FailureKind.CONTEXT_OVERFLOW, 1),
        (FailureKind.CONTENT_POLICY, 1),
        (FailureKind.UNKNOWN, 1),
    ],
)
async def test_a_lasting_failure_is_not_retried(
    tmp_path: Path, kind: FailureKind, exit_code: int
) -> None:
    async with agent_with(tmp_path, [fails(kind, status=400)]) as (agent, model):
        end = finished(await collect(agent))
    assert len(model.requests) == 1
    assert end.stop.kind is StopKind.MODEL_FAILED and end.stop.detail == kind.value
    assert end.stop.failure is not None and end.stop.failure.status == 400
    assert end.stop.exit_code == exit_code


async def test_retries_have_an_end(tmp_path: Path) -> None:
    script = [fails(FailureKind.NETWORK)]
    async with agent_with(tmp_path, script, repeat=True) as (agent, model):
        end = finished(await collect(agent))
    assert len(model.requests) == 4
    assert end.stop.exit_code == 5


async def test_nothing_is_retried_once_some_of_it_was_shown(tmp_path: Path) -> None:
    broken = [
        TextDelta("The cause is this:\nit "),
        StreamFailed(Failure(FailureKind.NETWORK, "cut")),
    ]
    async with agent_with(tmp_path, [broken]) as (agent, model):
        end = finished(await collect(agent))
    assert len(model.requests) == 1
    assert end.stop.kind is StopKind.MODEL_FAILED
    assert (end.answer, end.answer_state) == ("", "none"), "a broken stream is no answer"


async def test_a_failure_after_tools_is_retried_if_nothing_of_the_request_was_shown(
    tmp_path: Path,
) -> None:
    script = [calls(("c1", "echo", {})), fails(FailureKind.SERVER_ERROR), says("done")]
    async with agent_with(tmp_path, script) as (agent, _):
        events = await collect(agent)
    assert finished(events).stop.completed
    assert len(of_type(events, ev.ToolFinished)) == 1


async def test_a_stream_without_an_end_is_a_failure(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [[TextDelta("hel")]]) as (agent, _):
        end = finished(await collect(agent))
    assert end.stop.kind is StopKind.MODEL_FAILED and end.stop.detail == "unknown"


async def test_the_limit_of_requests_leaves_one_answer_without_tools(tmp_path: Path) -> None:
    def reply(request: Any) -> Any:
        if request.tool_choice == "none":
            return says("What I have so far.")
        number = len(request.messages)
        return calls((f"c{number}", "echo", {"text": str(number)}))

    limits = Limits(max_turns=3)
    async with agent_with(tmp_path, [reply], repeat=True, limits=limits) as (agent, model):
        end = finished(await collect(agent))
    assert [request.tool_choice for request in model.requests] == ["auto"] * 3 + ["none"]
    assert end.stop.kind is StopKind.MAX_TURNS
    assert (end.answer, end.answer_state) == ("What I have so far.", "partial")


async def test_the_limit_of_calls_refuses_the_rest_of_the_batch(tmp_path: Path) -> None:
    script = [
        calls(*((f"c{n}", "echo", {"text": str(n)}) for n in range(4))),
        says("So far."),
    ]
    async with agent_with(tmp_path, script, limits=Limits(max_tool_calls=2)) as (agent, _):
        events = await collect(agent)
    assert [done.outcome for done in of_type(events, ev.ToolFinished)].count("refused") == 2
    assert finished(events).stop.kind is StopKind.MAX_TOOL_CALLS


async def test_the_limit_of_tokens_counts_what_was_reported(tmp_path: Path) -> None:
    script = [
        calls(("c1", "echo", {}), usage=Usage(input_tokens=90, cache_read_tokens=20)),
        says("So far."),
    ]
    async with agent_with(tmp_path, script, limits=Limits(max_total_tokens=100)) as (agent, _):
        events = await collect(agent)
    assert finished(events).stop.kind is StopKind.BUDGET
    script = [calls(("c1", "echo", {})), calls(("c2", "echo", {})), says("done")]
    limits = Limits(max_total_tokens=100)
    async with agent_with(tmp_path / "b", script, limits=limits) as (agent, _):
        events = await collect(agent)
    assert [notice.kind for notice in of_type(events, ev.Notice)] == ["unmetered"]
    assert finished(events).stop.completed


@pytest.mark.parametrize("tool", ["echo", "write", "nope"])
async def test_a_model_in_a_circle_is_warned_and_then_stopped(tmp_path: Path, tool: str) -> None:
    def reply(request: Any) -> Any:
        if request.tool_choice == "none":
            return says("I give up.")
        return calls((f"c{len(request.messages)}", tool, {"text": "same"}))

    async with agent_with(tmp_path, [reply], ECHO, SLOW_WRITE, repeat=True) as (agent, model):
        end = finished(await collect(agent))
    assert end.stop.kind is StopKind.LOOP_DETECTED and end.stop.detail == tool
    assert end.totals["calls"] == 6
    notes = [m.synthetic for m in model.seen[-1] if isinstance(m, UserMessage) and m.synthetic]
    assert notes == ["notice_loop", "conclude"]


async def test_the_same_call_with_new_results_is_no_circle(tmp_path: Path) -> None:
    count = iter(range(100))

    async def tick(arguments: Any, context: Any) -> Result:
        return Result(Outcome.SUCCESS, (Text(str(next(count))),))

    script: list[Any] = [calls((f"c{n}", "tick", {})) for n in range(8)]
    tool = Tool("tick", "Counts.", TEXT, tick)
    async with agent_with(tmp_path, [*script, says("done")], tool) as (agent, _):
        assert finished(await collect(agent)).stop.completed


async def test_the_model_is_told_when_its_requests_run_out(tmp_path: Path) -> None:
    def reply(request: Any) -> Any:
        number = len(request.messages)
        return calls((f"c{number}", "echo", {"text": str(number)}))

    script: list[Any] = [reply] * 39
    limits = Limits(max_turns=40)
    async with agent_with(tmp_path, [*script, says("done")], limits=limits) as (agent, model):
        await collect(agent)
    notes = [m for m in model.seen[-1] if isinstance(m, UserMessage) and m.synthetic]
    said = [part.text for m in notes for part in m.content if isinstance(part, Text)]
    assert [words.split()[1] for words in said] == ["20", "25", "35"]


async def test_a_tool_may_end_the_turn(tmp_path: Path) -> None:
    async def last(arguments: Any, context: Any) -> Result:
        return Result(Outcome.SUCCESS, (Text("bye"),), ends_turn=True)

    script = [calls(("c1", "last", {}), text="Done.")]
    async with agent_with(tmp_path, script, Tool("last", "Ends.", TEXT, last)) as (agent, _):
        end = finished(await collect(agent))
    assert end.stop.completed and end.stop.detail == "ended_by_tool"
    assert end.answer == "Done."


async def test_a_time_limit_ends_the_turn_and_keeps_what_was_shown(tmp_path: Path) -> None:
    import anyio

    async def hang(request: Any) -> Any:
        await anyio.sleep_forever()

    script: list[Any] = [calls(("c1", "echo", {}), text="I see smoke."), hang]
    async with agent_with(tmp_path, script, limits=Limits(timeout=0.05)) as (agent, _):
        end = finished(await collect(agent))
    assert end.stop.kind is StopKind.TIMEOUT
    assert (end.answer, end.answer_state) == ("I see smoke.", "partial")


async def test_a_fault_of_ours_is_an_end_with_a_name(tmp_path: Path) -> None:
    def broken(request: Any) -> Any:
        raise KeyError("inside")

    async with agent_with(tmp_path, [broken, says("fine")]) as (agent, _):
        end = finished(await collect(agent))
        assert end.stop.kind is StopKind.INTERNAL_ERROR and end.stop.detail == "KeyError"
        assert finished(await collect(agent)).answer == "fine", "the next turn works"


async def test_quirks_and_lessons_are_passed_on(tmp_path: Path) -> None:
    message = AssistantMessage((Text("ok"),), StopReason.END_TURN)
    stream = [
        Quirk("bad_json", "x"),
        Learned("temperature", "unsupported", "a 400"),
        ThinkingDelta("hm"),
        TextDelta("ok"),
        MessageEnd(message),
    ]
    async with agent_with(tmp_path, [stream]) as (agent, _):
        events = await collect(agent)
    kinds = [event.type for event in events][2:-2]
    assert kinds == ["model_started", "quirk", "learned", "thinking_delta", "text_delta"]


async def test_no_event_and_no_file_holds_a_secret(tmp_path: Path) -> None:
    secret = "kd83-Lq0x-99zz-Wv7p-topsecret"
    redactor = Redactor()
    redactor.learn(secret, "test")

    async def leak(arguments: Any, context: Any) -> Result:
        context.progress(f"using {secret}")
        return Result(Outcome.SUCCESS, (Text(f"token is {secret}"),))

    half = len(secret) // 2
    text = f"The token is {secret}."
    answer = [
        TextDelta(f"The token is {secret[:half]}"),
        TextDelta(f"{secret[half:]}."),
        MessageEnd(AssistantMessage((Text(text),), StopReason.END_TURN)),
    ]
    script: list[Any] = [calls(("c1", "leak", {"text": secret}), text=secret), answer]
    tool = Tool("leak", "Leaks.", TEXT, leak)
    async with agent_with(tmp_path, script, tool, redactor=redactor) as (agent, _):
        events = await collect(agent, f"use {secret}")
    assert secret not in str([event.to_json() for event in events])
    shown = "".join(event.text for event in of_type(events, ev.TextDelta))
    assert "[REDACTED:" in shown
    for path in tmp_path.rglob("*.jsonl"):
        assert secret not in path.read_text(encoding="utf-8"), path.name


async def test_read_only_refuses_what_writes(tmp_path: Path) -> None:
    script = [calls(("c1", "write", {})), says("could not")]
    policy = Policy(autonomy=Autonomy.READ_ONLY, human=True)
    async with agent_with(tmp_path, script, SLOW_WRITE, policy=policy) as (agent, _):
        events = await collect(agent)
    [done] = of_type(events, ev.ToolFinished)
    assert (done.outcome, done.facts["reason"]) == ("refused", "read_only")
    [started] = of_type(events, ev.ToolStarted)
    assert started.admission["verdict"] == "deny"


async def test_an_empty_prompt_is_not_taken(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [says("x")]) as (agent, model):
        for prompt in ("", " \n"):
            with pytest.raises(UsageError):
                await collect(agent, prompt)
        assert model.requests == [] and len(agent.session.history) == 0
        assert finished(await collect(agent)).answer == "x"


async def test_a_large_result_goes_to_the_model_whole_and_is_capped_in_the_transcript(
    tmp_path: Path,
) -> None:
    async def much(arguments: Any, context: Any) -> Result:
        return Result(Outcome.SUCCESS, (Text("line of output\n" * 20_000),))

    script = [calls(("c1", "much", {})), says("done")]
    async with agent_with(tmp_path, script, Tool("much", "Says much.", TEXT, much)) as (
        agent,
        model,
    ):
        assert finished(await collect(agent)).stop.completed
        path = agent.session.folder / "transcript.jsonl"
    sent = model.seen[1][-1].content[0]
    assert isinstance(sent, Text) and len(sent.text) > 290_000, "the model reads all of it"
    assert path.stat().st_size < 60_000, "the transcript keeps head and tail"


def test_a_delay_is_capped_and_a_silly_hint_ignored() -> None:
    policy = RetryPolicy(retries=10, base=5, longest=120)
    network = Failure(FailureKind.NETWORK, "x", retry_after=0)
    assert [policy.delay(network, n) for n in range(7)] == [5, 10, 20, 40, 80, 120, 120]
    assert policy.delay(Failure(FailureKind.NETWORK, "x", partial=True), 0) is None


@pytest.mark.parametrize(
    "last",
    [
        calls(("c9", "echo", {}), text="One more look."),
        says("I will not.", stop=StopReason.REFUSAL),
    ],
)
async def test_a_last_word_that_is_no_answer_is_recorded_as_shown(
    tmp_path: Path, last: Any
) -> None:
    script = [calls(("c1", "echo", {})), last, says("Next.")]
    limits = Limits(max_turns=1)
    async with agent_with(tmp_path, script, limits=limits) as (agent, model):
        events = await collect(agent)
        again = await collect(agent, "and now?")
        found = read_transcript(agent.session.folder / "transcript.jsonl")
    partial = [r["content"][0]["text"] for r in found.records if r["type"] == "partial"]
    assert partial == [delta.text for delta in of_type(events, ev.TextDelta)] == [last.text]
    assert events[-1].stop.kind is StopKind.MAX_TURNS  # type: ignore[union-attr]
    assert again[-1].answer == "Next."  # type: ignore[union-attr]
    assert not any(m.content == last.content for m in model.seen[-1])
