"""Short forms for tests of models: the three wires, requests, and what a stream brought."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any

from tests.peers.model_server import ModelServer
from truepenny.model.endpoint import Timeouts
from truepenny.model.event import (
    Learned,
    MessageEnd,
    ModelEvent,
    Quirk,
    StreamFailed,
    TextDelta,
)
from truepenny.model.failure import Failure
from truepenny.model.message import AssistantMessage, Message, user
from truepenny.model.profile import Profile
from truepenny.model.request import Model, ModelRequest, ToolSchema
from truepenny.model.wires.anthropic_messages import AnthropicMessagesModel
from truepenny.model.wires.http import HttpModel
from truepenny.model.wires.openai_chat import OpenAIChatModel
from truepenny.model.wires.openai_responses import OpenAIResponsesModel
from truepenny.system.ids import CountingIds

WIRES: dict[str, type[HttpModel]] = {
    one.wire: one for one in (AnthropicMessagesModel, OpenAIChatModel, OpenAIResponsesModel)
}
TOOLS = (ToolSchema("echo", "Say it again.", {"type": "object", "properties": {}}),)
QUICK = Timeouts(connect=2, first_byte=0.15, idle=0.15)


def model(
    server: ModelServer, wire: str, profile: Profile | None = None, **parts: Any
) -> HttpModel:
    timeouts = parts.pop("timeouts", None)
    endpoint = server.endpoint(wire, timeouts)
    parts.setdefault("ids", CountingIds())
    return WIRES[wire](endpoint, profile or Profile("m"), **parts)


def request(*messages: Message, **fields: Any) -> ModelRequest:
    fields.setdefault("tools", TOOLS)
    return ModelRequest("Be brief.", messages or (user("hello"),), **fields)


async def collect(asked: Model, wanted: ModelRequest | None = None) -> list[ModelEvent]:
    """Ask once, close the model, return all events."""
    try:
        async with aclosing(asked.stream(wanted or request())) as events:
            return [event async for event in events]
    finally:
        await asked.close()


def message_of(events: Sequence[ModelEvent]) -> AssistantMessage:
    last = events[-1]
    assert isinstance(last, MessageEnd), last
    assert_one_terminal(events)
    return last.message


def failure_of(events: Sequence[ModelEvent]) -> Failure:
    return failed(events).failure


def failed(events: Sequence[ModelEvent]) -> StreamFailed:
    last = events[-1]
    assert isinstance(last, StreamFailed), last
    assert_one_terminal(events)
    return last


def assert_one_terminal(events: Sequence[ModelEvent]) -> None:
    terminal = [event for event in events if isinstance(event, MessageEnd | StreamFailed)]
    assert len(terminal) == 1


def quirks(events: Sequence[ModelEvent]) -> list[str]:
    return [event.kind for event in events if isinstance(event, Quirk)]


def learned(events: Sequence[ModelEvent]) -> list[tuple[str, str]]:
    return [(event.capability, event.value) for event in events if isinstance(event, Learned)]


def streamed_text(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def decode(
    wire: str, stream: bytes, *cuts: int, profile: Profile | None = None
) -> list[ModelEvent]:
    """Read bytes without any network."""
    asked = model(ModelServer(), wire, profile)
    decoder = asked.decoder(request(), asked.profile)
    edges = [0, *sorted(cuts), len(stream)]
    events: list[ModelEvent] = []
    for left, right in pairwise(edges):
        if not decoder.ended:
            events += decoder.feed(stream[left:right])
    return events if decoder.ended else events + decoder.finish()
