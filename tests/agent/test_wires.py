"""The agent over the real wires, against a provider that checks each request strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.model.asking import WIRES, model
from tests.peers.model_script import Call, Counts, Refuse, Reply
from tests.peers.model_server import ModelServer
from truepenny.agent import event as ev
from truepenny.agent.stop import StopKind

from .world import ECHO, Gate, agent_with, collect, of_type

pytestmark = pytest.mark.anyio

every_wire = pytest.mark.parametrize("wire", WIRES)
TWO = (Call("echo", {"text": "a"}, id="call_1"), Call("echo", {"text": "b"}, id="call_2"))


@every_wire
async def test_a_whole_turn(tmp_path: Path, wire: str) -> None:
    script = [
        Reply(text="Looking.\n", thinking="hm", calls=TWO),
        Reply(calls=(Call("echo", raw='{"text": '),)),
        Refuse(429, headers={"retry-after": "3"}),
        Reply(text="It is DNS [call_1]."),
    ]
    with ModelServer(script) as server:
        asked = model(server, wire)
        try:
            async with agent_with(tmp_path, [], ECHO, model=asked) as (agent, _):
                events = await collect(agent)
        finally:
            await asked.close()
    end = events[-1]
    assert isinstance(end, ev.RunFinished) and end.stop.completed
    assert end.answer == "It is DNS [call_1]." and end.evidence["resolved"] == ("call_1",)
    reasons = [done.facts["reason"] for done in of_type(events, ev.ToolFinished)]
    assert reasons == ["", "", "malformed_arguments"]
    assert [(retry.kind, retry.delay) for retry in of_type(events, ev.Retry)] == [("rate_limit", 3)]
    assert end.totals["usage"]["output_tokens"] == 3 * Counts().output
    assert end.totals["outcomes"] == {"success": 2, "invalid_arguments": 1}


@every_wire
async def test_an_empty_answer_has_its_own_budget(tmp_path: Path, wire: str) -> None:
    with ModelServer([Reply(), Reply(thinking="hm"), Reply()]) as server:
        asked = model(server, wire)
        try:
            async with agent_with(tmp_path, [], ECHO, model=asked) as (agent, _):
                events = await collect(agent)
        finally:
            await asked.close()
    assert events[-1].stop.kind is StopKind.EMPTY_ANSWER  # type: ignore[union-attr]
    assert len(server.requests) == 3


@every_wire
async def test_a_stream_that_breaks_is_no_answer(tmp_path: Path, wire: str) -> None:
    # Long enough that whole lines were shown before the connection went.
    with ModelServer([Reply(text="The cause is clear.\n" * 40, cut=2500)]) as server:
        asked = model(server, wire)
        try:
            async with agent_with(tmp_path, [], ECHO, model=asked) as (agent, _):
                events = await collect(agent)
        finally:
            await asked.close()
    end = events[-1]
    assert isinstance(end, ev.RunFinished)
    assert end.stop.kind is StopKind.MODEL_FAILED and end.stop.detail == "network"
    assert end.answer == "" and of_type(events, ev.TextDelta)


@every_wire
async def test_a_session_lives_on_after_an_abort_and_in_the_next_process(
    tmp_path: Path, wire: str
) -> None:
    gate = Gate()
    script = [Reply(calls=(*TWO, Call("gate", id="call_3"))), Reply(text="one"), Reply(text="two")]
    with ModelServer(script) as server:
        asked = model(server, wire)
        try:
            async with agent_with(tmp_path, [], ECHO, gate.tool, model=asked) as (agent, _):
                events: list[Any] = []
                async for event in agent.run("go"):
                    events.append(event)
                    if isinstance(event, ev.ToolStarted) and event.tool == "gate":
                        await gate.entered.wait()
                        await agent.abort()
                assert events[-1].stop.kind is StopKind.CANCELLED
                again = await collect(agent, "go on")
                name = agent.session.id
            async with agent_with(tmp_path, [], ECHO, model=asked, session_id=name) as (agent, _):
                later = await collect(agent, "and now?", turn_id="later")
        finally:
            await asked.close()
    assert [run[-1].answer for run in (again, later)] == ["one", "two"]  # type: ignore[union-attr]
