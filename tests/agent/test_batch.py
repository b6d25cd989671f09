"""The calls of one message: how they run, in what order they are answered, that none is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from truepenny.agent import event as ev
from truepenny.agent.limits import Limits
from truepenny.agent.transcript import read_transcript
from truepenny.model.message import (
    AssistantMessage,
    StopReason,
    Text,
    ToolCall,
    ToolResultMessage,
)
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Policy
from truepenny.tool.contract import ActionClass, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result

from .scripted import calls, says
from .world import ECHO, TEXT, Gate, agent_with, collect, of_type

pytestmark = pytest.mark.anyio


def answered(messages: Any) -> list[str]:
    return [message.call_id for message in messages if isinstance(message, ToolResultMessage)]


async def test_parallel_calls_overlap_and_are_answered_in_call_order(tmp_path: Path) -> None:
    turn: list[anyio.Event] = [anyio.Event() for _ in range(3)]

    async def relay(arguments: Any, context: Any) -> Result:
        # Each waits for the one after it: they end in reverse, and only if all run at once.
        number = int(arguments["text"])
        if number < 2:
            await turn[number + 1].wait()
        turn[number].set()
        return Result(Outcome.SUCCESS, (Text(str(number)),))

    script = [calls(*((f"c{n}", "relay", {"text": str(n)}) for n in range(3))), says("done")]
    async with agent_with(tmp_path, script, Tool("relay", "Waits.", TEXT, relay)) as (agent, model):
        events = await collect(agent)
    assert [done.call for done in of_type(events, ev.ToolFinished)] == ["c2", "c1", "c0"]
    assert answered(model.seen[1]) == ["c0", "c1", "c2"]
    assert of_type(events, ev.Repaired) == [], "coming in out of order is no fault"


async def test_no_more_calls_run_at_once_than_allowed(tmp_path: Path) -> None:
    gate = Gate()
    script = [calls(*((f"c{n}", "gate", {}) for n in range(5))), says("done")]
    async with agent_with(tmp_path, script, gate.tool, limits=Limits(parallel=2)) as (agent, _):
        started = 0
        async for event in agent.run("go"):
            started += isinstance(event, ev.ToolStarted)
            if started == 2:
                gate.open.set()
    assert gate.most == 2 and len(gate.order) == 5


async def test_one_sequential_tool_makes_the_whole_batch_run_in_order(tmp_path: Path) -> None:
    gate = Gate()
    gate.open.set()
    slow = Tool("slow", "One at a time.", TEXT, gate.tool.run, concurrency="sequential")
    wanted = [("c0", "gate", {}), ("c1", "slow", {}), ("c2", "gate", {})]
    script = [calls(*wanted), says("done")]
    async with agent_with(tmp_path, script, gate.tool, slow) as (agent, _):
        events = await collect(agent)
    assert gate.most == 1 and gate.order == ["c0", "c1", "c2"]
    assert [done.call for done in of_type(events, ev.ToolFinished)] == ["c0", "c1", "c2"]


async def test_a_call_is_recorded_before_it_runs(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    async def look(arguments: Any, context: Any) -> Result:
        found = read_transcript(context.scratch.parent / "transcript.jsonl")
        seen.append([r["type"] for r in found.records if r.get("call") == context.call_id])
        return Result(Outcome.SUCCESS)

    script = [calls(("c1", "look", {})), says("done")]
    async with agent_with(tmp_path, script, Tool("look", "Looks.", TEXT, look)) as (agent, _):
        await collect(agent)
    assert seen == [["tool"]]


async def test_what_cannot_be_recorded_first_does_not_run_if_it_changes_something(
    tmp_path: Path,
) -> None:
    ran: list[str] = []

    async def note(arguments: Any, context: Any) -> Result:
        ran.append(context.call_id)
        return Result(Outcome.SUCCESS)

    approved: list[str] = []

    async def ask(tool: Any, arguments: Any, decision: Any) -> bool:
        approved.append(tool.name)
        agent.session._transcript._journal.broken = "No space left on device"
        return True

    change = Tool("change", "Writes.", TEXT, note, ActionClass.WRITE, concurrency="sequential")
    read = Tool("look", "Reads.", TEXT, note)
    script = [calls(("c1", "change", {}), ("c2", "look", {})), says("done")]
    policy = Policy(human=True)
    async with agent_with(tmp_path, script, change, read, policy=policy, ask=ask) as (agent, _):
        events = await collect(agent)
    assert approved == ["change"]
    assert ran == ["c2"], "reading goes on, writing does not"
    assert of_type(events, ev.ToolFinished)[0].facts["reason"] == "not_recorded"
    assert events[-1].recorded is False  # type: ignore[union-attr]
    assert [notice.kind for notice in of_type(events, ev.Notice)] == ["not_recorded"]


async def test_progress_of_a_talkative_tool_is_dropped_and_counted(tmp_path: Path) -> None:
    async def chatter(arguments: Any, context: Any) -> Result:
        for number in range(1000):
            context.progress(f"line {number}")
        return Result(Outcome.SUCCESS)

    script = [calls(("c1", "chatter", {})), says("done")]
    tool = Tool("chatter", "Talks.", TEXT, chatter)
    async with agent_with(tmp_path, script, tool) as (agent, _):
        events = await collect(agent)
    [done] = of_type(events, ev.ToolFinished)
    assert done.progress_dropped > 0
    assert len(of_type(events, ev.ToolProgress)) + done.progress_dropped == 1000


async def test_call_ids_that_come_twice_are_told_apart_everywhere(tmp_path: Path) -> None:
    script = [
        calls(("call_0", "echo", {"text": "a"})),
        calls(("call_0", "echo", {"text": "b"})),
        says("done"),
    ]
    async with agent_with(tmp_path, script, ECHO) as (agent, model):
        events = await collect(agent)
    ids = [done.call for done in of_type(events, ev.ToolFinished)]
    assert len(set(ids)) == 2 and ids == answered(model.seen[2])
    assert [repair.kind for repair in of_type(events, ev.Repaired)] == ["duplicate_call_id"]


async def test_what_is_wrong_with_a_call_is_said_without_its_secrets(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn("s3cret-s3cret-s3cret", "test")
    broken = ToolCall("c1", "no tool s3cret-s3cret-s3cret", None, problem="s3cret-s3cret-s3cret?")
    script = [AssistantMessage((broken,), StopReason.TOOL_USE), says("done")]
    async with agent_with(tmp_path, script, redactor=redactor) as (agent, model):
        events = await collect(agent)
        records = agent.session.folder.joinpath("transcript.jsonl").read_text(encoding="utf-8")
    [repair] = of_type(events, ev.Repaired)
    assert repair.detail == "no tool [REDACTED:test]"
    assert "s3cret-s3cret-s3cret?" not in repr(model.seen[-1][-1].content) + records
