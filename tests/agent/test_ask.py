"""One question to the model: whatever was shown of the answer is in the record."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from truepenny.agent import event as ev
from truepenny.agent.outbox import ROOM
from truepenny.agent.stop import StopKind
from truepenny.agent.transcript import read_transcript
from truepenny.model.event import MessageEnd, ModelEvent, TextDelta
from truepenny.model.message import AssistantMessage, StopReason, Text
from truepenny.model.request import ModelRequest

from .world import agent_with, collect, of_type

pytestmark = pytest.mark.anyio


async def test_text_of_a_stream_without_an_end_is_recorded(tmp_path: Path) -> None:
    script: list[Any] = [[TextDelta("It is \n")]]
    async with agent_with(tmp_path, script) as (agent, _):
        events = await collect(agent)
        found = read_transcript(agent.session.folder / "transcript.jsonl")
    assert events[-1].stop.kind is StopKind.MODEL_FAILED  # type: ignore[union-attr]
    partial = [r["content"][0]["text"] for r in found.records if r["type"] == "partial"]
    assert partial == [delta.text for delta in of_type(events, ev.TextDelta)] == ["It is \n"]


class Torrent:
    """Sends so many lines, and a last one that the redactor holds back until the end."""

    name = "test/torrent"

    def __init__(self, lines: int) -> None:
        self.lines = (*(f"line {number}\n" for number in range(lines)), "and no line break")

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        for line in self.lines:
            yield TextDelta(line)
        yield MessageEnd(AssistantMessage((Text("".join(self.lines)),), StopReason.END_TURN))

    async def close(self) -> None:
        """Nothing to release."""


@pytest.mark.parametrize("lines", range(ROOM - 2, ROOM + 3))
async def test_an_abort_while_an_answer_waits_for_its_reader(tmp_path: Path, lines: int) -> None:
    events: list[Any] = []
    async with agent_with(tmp_path, [], model=Torrent(lines)) as (agent, _):
        async for event in agent.run("go"):
            events.append(event)
            if isinstance(event, ev.ModelStarted):
                await anyio.wait_all_tasks_blocked()
                await agent.abort()
        found = read_transcript(agent.session.folder / "transcript.jsonl")
    shown = "".join(delta.text for delta in of_type(events, ev.TextDelta))
    kept = [r["content"][0]["text"] for r in found.records if r.get("role") == "assistant"]
    assert kept == [shown] and shown.startswith("line 0\n")
    assert events[-1].answer == shown.strip()
