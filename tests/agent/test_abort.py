"""Stopping and steering: an abort hits the turn it names and no other, and nothing is left open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from truepenny.agent import event as ev
from truepenny.agent.desk import LATCH_SECONDS, Abort, TurnBusy
from truepenny.agent.stop import StopKind
from truepenny.agent.transcript import read_transcript
from truepenny.agent.validity import validate
from truepenny.errors import StorageFailed
from truepenny.model.event import TextDelta
from truepenny.model.failure import FailureKind
from truepenny.model.message import Text, UserMessage
from truepenny.tool.contract import Tool

from .scripted import ScriptedModel, calls, fails, says
from .world import ECHO, TEXT, Gate, agent_with, collect, of_type

pytestmark = pytest.mark.anyio


def stops(root: Path) -> list[dict[str, Any]]:
    [path] = root.rglob("transcript.jsonl")
    return [record for record in read_transcript(path).records if record["type"] == "stop"]


async def test_an_abort_stops_the_tools_and_answers_every_call(tmp_path: Path) -> None:
    gate = Gate("gate", concurrency="sequential")
    wanted = [("c0", "echo", {"text": "x"}), ("c1", "gate", {}), ("c2", "echo", {})]
    answers: list[Abort] = []
    script = [calls(*wanted), says("never")]
    events: list[Any] = []
    async with agent_with(tmp_path, script, ECHO, gate.tool) as (agent, model):
        async with anyio.create_task_group() as tasks:

            async def stop() -> None:
                await gate.entered.wait()
                answers.append(await agent.abort())

            tasks.start_soon(stop)
            async for event in agent.run("go", turn_id="t1"):
                events.append(event)
        assert answers == [Abort.STOPPED]
        assert await agent.abort("t1") is Abort.ALREADY_STOPPED
        assert await agent.abort() is Abort.NOTHING_RUNNING
        history = agent.session.history.messages
        assert validate(history) == ()
        assert len(model.requests) == 1
    assert gate.cancelled == 1
    done = {event.call: event for event in of_type(events, ev.ToolFinished)}
    assert done["c0"].outcome == "success", "what had ended keeps its result"
    assert done["c1"].facts["reason"] == "stopped_while_running"
    assert done["c2"].facts["reason"] == "never_ran"
    started = [event.call for event in of_type(events, ev.ToolStarted)]
    assert started == ["c0", "c1", "c2"], "each finished call was announced"
    assert events[-1].stop.kind is StopKind.CANCELLED and events[-1].stop.exit_code == 130
    [stop_record] = stops(tmp_path)
    assert stop_record["kind"] == "cancelled"


async def test_an_abort_of_another_turn_does_not_hit_this_one(tmp_path: Path) -> None:
    gate = Gate()
    script = [calls(("c1", "gate", {})), says("done")]
    async with agent_with(tmp_path, script, gate.tool) as (agent, _):
        events: list[Any] = []
        async for event in agent.run("go", turn_id="t1"):
            events.append(event)
            if isinstance(event, ev.ToolStarted):
                assert await agent.abort("t0") is Abort.ARMED
                gate.open.set()
        assert events[-1].stop.completed


async def test_an_abort_that_comes_first_waits_for_its_turn(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [says("one"), says("two")]) as (agent, model):
        assert await agent.abort("t2") is Abort.ARMED
        first = await collect(agent, turn_id="t1")
        assert first[-1].stop.completed  # type: ignore[union-attr]
        second = await collect(agent, turn_id="t2")
        assert second[-1].stop.kind is StopKind.CANCELLED  # type: ignore[union-attr]
        assert len(model.requests) == 1, "the aborted turn asked nothing"
        third = await collect(agent, turn_id="t3")
        assert third[-1].stop.completed, "the latch was consumed"  # type: ignore[union-attr]


async def test_an_early_abort_does_not_wait_for_ever(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [says("one")]) as (agent, _):
        await agent.abort("t1")
        agent.setup.clock.advance(LATCH_SECONDS + 1)  # type: ignore[attr-defined]
        events = await collect(agent, turn_id="t1")
        assert events[-1].stop.completed  # type: ignore[union-attr]


async def test_a_second_prompt_while_a_turn_runs_is_refused(tmp_path: Path) -> None:
    gate = Gate()
    script = [calls(("c1", "gate", {})), says("done"), says("again")]
    async with agent_with(tmp_path, script, gate.tool) as (agent, _):
        async for event in agent.run("go", turn_id="t1"):
            if isinstance(event, ev.ToolStarted):
                with pytest.raises(TurnBusy):
                    await collect(agent, "me too")
                gate.open.set()
        with pytest.raises(TurnBusy):
            await collect(agent, turn_id="t1")
        assert (await collect(agent))[-1].stop.completed  # type: ignore[union-attr]


async def test_leaving_the_loop_aborts_the_turn(tmp_path: Path) -> None:
    gate = Gate()
    script = [calls(("c1", "gate", {})), says("next")]
    async with agent_with(tmp_path, script, gate.tool) as (agent, _):
        run = agent.run("go")
        async for event in run:
            if isinstance(event, ev.ToolStarted):
                await gate.entered.wait()
                break
        await run.aclose()
        assert gate.cancelled == 1
        assert [record["detail"] for record in stops(tmp_path)] == ["consumer_gone"]
        assert validate(agent.session.history.messages) == ()
        assert (await collect(agent))[-1].answer == "next"  # type: ignore[union-attr]


async def test_cancelling_the_task_around_aborts_the_turn_and_records_its_end(
    tmp_path: Path,
) -> None:
    gate = Gate()
    with anyio.CancelScope() as scope:
        async with agent_with(tmp_path, [calls(("c1", "gate", {}))], gate.tool) as (agent, _):
            async for event in agent.run("go"):
                if isinstance(event, ev.ToolStarted):
                    await gate.entered.wait()
                    scope.cancel()
    assert scope.cancelled_caught and gate.cancelled == 1
    [record] = stops(tmp_path)
    assert record["kind"] == "cancelled"


async def test_text_that_was_shown_when_the_turn_was_stopped_is_kept_as_partial(
    tmp_path: Path,
) -> None:
    shown = anyio.Event()

    class Hanging:
        name = "test/hanging"

        async def stream(self, request: Any) -> Any:
            yield TextDelta("First finding.\nSecond")
            shown.set()
            await anyio.sleep_forever()

        async def close(self) -> None:
            """Nothing to release."""

    async with agent_with(tmp_path, [], model=Hanging()) as (agent, _):
        events: list[Any] = []
        async for event in agent.run("go"):
            events.append(event)
            if isinstance(event, ev.TextDelta):
                await shown.wait()
                await agent.abort()
    assert (events[-1].answer, events[-1].answer_state) == ("First finding.", "partial")


async def test_a_steer_reaches_the_next_request_and_is_confirmed(tmp_path: Path) -> None:
    gate = Gate()
    script = [calls(("c1", "gate", {})), says("yes, staging")]
    async with agent_with(tmp_path, script, gate.tool) as (agent, model):
        assert await agent.steer("too early") is None
        events: list[Any] = []
        async for event in agent.run("go"):
            events.append(event)
            if isinstance(event, ev.ToolStarted):
                steer = await agent.steer("look at staging")
                assert steer is not None
                [path] = tmp_path.rglob("transcript.jsonl")
                kinds = [record["type"] for record in read_transcript(path).records]
                assert "steer" in kinds, "durable before acknowledged"
                gate.open.set()
    order = [event.type for event in events if event.type.startswith("steer")]
    assert order == ["steer_accepted", "steer_delivered"]
    last = model.seen[1][-1]
    assert isinstance(last, UserMessage) and last.content == (Text("look at staging"),)


async def test_a_steer_that_comes_with_the_last_words_is_still_answered(tmp_path: Path) -> None:
    async def late(request: Any) -> Any:
        await agent.steer("one more thing")
        return says("done")

    async with agent_with(tmp_path, [late, says("and that too")]) as (agent, _):
        events = await collect(agent)
    assert events[-1].answer == "and that too"  # type: ignore[union-attr]


@pytest.mark.parametrize("when", ["boundary", "end"])
async def test_a_steer_on_its_way_to_the_disk_at_the_last_word_is_waited_for(
    tmp_path: Path, when: Any
) -> None:
    accepted: list[Any] = []
    async with (
        agent_with(tmp_path, [], model=(model := ScriptedModel([]))) as (agent, _),
        anyio.create_task_group() as tasks,
    ):
        on_disk, flush = anyio.Event(), agent.session.flush

        async def slow_flush() -> None:
            await on_disk.wait()
            await flush()

        async def steer() -> None:
            agent.session.flush = slow_flush  # type: ignore[method-assign]
            accepted.append(await agent.steer("one more thing", when=when))

        async def late(request: Any) -> Any:
            tasks.start_soon(steer)
            await anyio.wait_all_tasks_blocked()
            return says("done")

        async def release() -> None:
            await anyio.wait_all_tasks_blocked()
            agent.session.flush = flush  # type: ignore[method-assign]
            on_disk.set()

        model.replies = [late, says("and that too")]
        events: list[Any] = []
        async for event in agent.run("go"):
            events.append(event)
            if isinstance(event, ev.TextDelta) and not on_disk.is_set():
                tasks.start_soon(release)
    assert accepted[0] is not None and len(model.seen) == 2
    order = [event.type for event in events if event.type.startswith(("steer", "run_f"))]
    assert order == ["steer_accepted", "steer_delivered", "run_finished"]


async def test_a_steer_after_the_last_boundary_is_not_accepted(tmp_path: Path) -> None:
    answers: list[Any] = []
    async with agent_with(tmp_path, [says("done")]) as (agent, model):
        flush = agent.session.flush

        async def flush_at_the_end() -> None:
            if model.requests and not answers:
                answers.append(await agent.steer("too late"))
            await flush()

        agent.session.flush = flush_at_the_end  # type: ignore[method-assign]
        events = await collect(agent)
        assert answers == [None] and not agent.session.steers
    assert not of_type(events, ev.SteerAccepted)


async def test_follow_ups_that_a_failed_turn_leaves_are_named(tmp_path: Path) -> None:
    async def late(request: Any) -> Any:
        await agent.steer("and then?", when="end")
        return fails(FailureKind.AUTH)

    async with agent_with(tmp_path, [late, says("one"), says("two")]) as (agent, _):
        [notice] = of_type(await collect(agent), ev.Notice)
        assert notice.kind == "steers_waiting"
        assert (await collect(agent, "again"))[-1].answer == "two"  # type: ignore[union-attr]


async def test_a_follow_up_is_a_turn_of_its_own(tmp_path: Path) -> None:
    async def late(request: Any) -> Any:
        await agent.steer("and then?", when="end")
        return says("one")

    async with agent_with(tmp_path, [late, says("two")]) as (agent, _):
        events = await collect(agent, turn_id="t1")
    turns = [event.turn for event in of_type(events, ev.TurnFinished)]
    assert len(turns) == 2 and turns[0] == "t1" != turns[1]
    assert events[-1].answer == "two" and events[-1].totals["turns"] == 2  # type: ignore[union-attr]


async def test_an_abort_drops_what_waits_and_says_what(tmp_path: Path) -> None:
    gate = Gate()
    async with agent_with(tmp_path, [calls(("c1", "gate", {}))], gate.tool) as (agent, _):
        events: list[Any] = []
        names: list[str] = []
        async with anyio.create_task_group() as tasks:
            async for event in agent.run("go"):
                events.append(event)
                if isinstance(event, ev.ToolStarted):
                    for when in ("boundary", "end"):
                        steer = await agent.steer("also", when=when)
                        assert steer is not None
                        names.append(steer.id)
                    tasks.start_soon(agent.abort)
        [end] = of_type(events, ev.TurnFinished)
        assert list(end.undelivered) == names
        assert not agent.session.steers and not agent.session.follow_ups


async def test_a_steer_that_cannot_be_recorded_is_not_accepted(tmp_path: Path) -> None:
    gate = Gate()
    script = [calls(("c1", "gate", {})), says("done")]
    async with agent_with(tmp_path, script, gate.tool) as (agent, model):
        async for event in agent.run("go"):
            if isinstance(event, ev.ToolStarted):
                agent.session._transcript._journal.broken = "No space left on device"
                with pytest.raises(StorageFailed):
                    await agent.steer("look here")
                gate.open.set()
        assert len(model.seen[1]) == 3, "nothing but prompt, call and result"


async def test_a_prompt_that_cannot_be_recorded_is_not_accepted(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [says("never")]) as (agent, model):
        agent.session._transcript._journal.broken = "Read-only file system"
        with pytest.raises(StorageFailed) as caught:
            await collect(agent)
        assert caught.value.exit_code == 5
        assert model.requests == [] and len(agent.session.history) == 0
        assert agent._desk.live is None


async def test_a_tool_that_does_not_let_go_leaves_the_abort_unconfirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.agent.agent.ABORT_WAIT_SECONDS", 0.01)
    entered, release = anyio.Event(), anyio.Event()

    async def stubborn(arguments: Any, context: Any) -> Any:
        entered.set()
        with anyio.CancelScope(shield=True):
            await release.wait()
        await anyio.sleep_forever()

    tool = Tool("stubborn", "Holds on.", TEXT, stubborn)
    answers: list[Abort] = []
    script = [calls(("c1", "stubborn", {}))]
    async with agent_with(tmp_path, script, tool) as (agent, _), anyio.create_task_group() as tasks:

        async def stop() -> None:
            await entered.wait()
            answers.append(await agent.abort())
            release.set()

        tasks.start_soon(stop)
        await collect(agent)
    assert answers == [Abort.PENDING]


async def test_a_follow_up_that_cannot_be_recorded_ends_the_run_and_keeps_the_first_turn(
    tmp_path: Path,
) -> None:
    async def late(request: Any) -> Any:
        await agent.steer("and then?", when="end")
        return says("one")

    async with agent_with(tmp_path, [late]) as (agent, _):
        events: list[Any] = []
        async for event in agent.run("go"):
            events.append(event)
            if isinstance(event, ev.TurnFinished):
                agent.session._transcript._journal.broken = "No space left on device"
        assert agent._desk.live is None
    [first] = of_type(events, ev.TurnFinished)
    assert first.stop.completed
    assert events[-1].stop.kind is StopKind.STORAGE_FAILED and events[-1].stop.exit_code == 5
