"""A model that plays a script and checks, like a strict provider, every request it gets."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from typing import Any

from truepenny.agent.validity import validate
from truepenny.model.event import MessageEnd, ModelEvent, StreamFailed, TextDelta
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.message import AssistantMessage, Message, StopReason, Text, ToolCall
from truepenny.model.request import ModelRequest
from truepenny.model.usage import Usage

Reply = AssistantMessage | Failure | list[ModelEvent] | Callable[[ModelRequest], Any]


class ScriptedModel:
    """Plays one reply per request; the last one again and again when `repeat` is set."""

    name = "test/scripted"

    def __init__(self, replies: Iterable[Reply], *, repeat: bool = False) -> None:
        self.replies = list(replies)
        self.repeat = repeat
        self.requests: list[ModelRequest] = []
        self.seen: list[tuple[Message, ...]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        assert validate(request.messages) == ()
        self.requests.append(request)
        self.seen.append(tuple(request.messages))
        reply = self.replies[0] if self.repeat and len(self.replies) == 1 else self.replies.pop(0)
        if callable(reply) and not isinstance(reply, AssistantMessage):
            reply = reply(request)
            if isinstance(reply, Awaitable):
                reply = await reply
        if isinstance(reply, Failure):
            yield StreamFailed(reply)
        elif isinstance(reply, AssistantMessage):
            if reply.text:
                yield TextDelta(reply.text)
            yield MessageEnd(reply)
        else:
            for event in reply:
                yield event

    async def close(self) -> None:
        """Nothing to release."""


def says(text: str, *, stop: StopReason = StopReason.END_TURN, usage: Usage | None = None) -> Any:
    return AssistantMessage((Text(text),), stop, usage=usage)


def calls(
    *wanted: tuple[str, str, Mapping[str, Any]],
    text: str = "",
    stop: StopReason = StopReason.TOOL_USE,
    usage: Usage | None = None,
) -> Any:
    parts: list[Any] = [Text(text)] if text else []
    parts += [ToolCall(call_id, name, arguments) for call_id, name, arguments in wanted]
    return AssistantMessage(tuple(parts), stop, usage=usage)


def fails(kind: FailureKind, **fields: Any) -> Failure:
    return Failure(kind, f"scripted {kind}", **fields)
