"""One question to the model: a request, its stream, and asking again where that is allowed.

A request is sent again only while nothing of its answer was shown, and only for failures that pass
by themselves. An answer with neither text nor call has a budget of its own: it is never a success.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

import anyio

from truepenny.model import event as model_event
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.message import AssistantMessage
from truepenny.model.message import StopReason as ModelStop
from truepenny.model.request import ModelRequest
from truepenny.model.usage import Usage

from .event import (
    Error,
    Learned,
    ModelStarted,
    Quirk,
    Retry,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from .record import encode_usage
from .stop import Stop, StopKind
from .turn import Turn
from .visible import Visible

ToolChoice = Literal["auto", "none"]


@dataclass(frozen=True, slots=True)
class _Failed:
    """A request without an answer. `shown` says whether some of it reached the person."""

    failure: Failure
    shown: bool


async def ask(turn: Turn, tool_choice: ToolChoice = "auto") -> AssistantMessage | Stop:
    """Return the model's next message, not yet in the history, or why there is none."""
    policy, retried, empty = turn.setup.limits.retry, 0, 0
    while True:
        reply = await _request(turn, tool_choice)
        if isinstance(reply, AssistantMessage):
            return reply
        failure = reply.failure
        if failure.kind is FailureKind.EMPTY_RESPONSE:
            if empty == policy.empty_retries:
                turn.session.note_error(turn.id, failure.kind.value, failure.message)
                return Stop(StopKind.EMPTY_ANSWER, message=failure.message, failure=failure)
            empty, delay, attempt = empty + 1, 0.0, empty + 1
        else:
            wait = None if reply.shown else policy.delay(failure, retried)
            if wait is None:
                return await _failed(turn, failure)
            retried, delay, attempt = retried + 1, wait, retried + 1
        turn.session.note_retry(turn.id, failure.kind.value, failure.message, attempt, delay)
        await turn.send(Retry(turn.id, failure.kind.value, failure.message, attempt, delay))
        await turn.setup.clock.sleep(delay)


async def _failed(turn: Turn, failure: Failure) -> Stop:
    turn.session.note_error(turn.id, failure.kind.value, failure.message)
    await turn.send(Error(turn.id, failure.kind.value, failure.message))
    return Stop(StopKind.MODEL_FAILED, failure.kind.value, failure.message, failure)


async def _request(turn: Turn, tool_choice: ToolChoice) -> AssistantMessage | _Failed:
    setup, session = turn.setup, turn.session
    turn.report(session.ready(turn.id))
    turn.tally.requests += 1
    limits = setup.limits
    request = ModelRequest(
        system=setup.system_prompt,
        messages=session.history.messages,
        tools=setup.registry.schemas,
        max_output_tokens=limits.max_output_tokens,
        temperature=limits.temperature,
        effort=limits.effort,
        tool_choice=tool_choice,
    )
    number, length = turn.tally.requests, len(request.messages)
    await turn.send(ModelStarted(turn.id, setup.model.name, number, length))
    visible = Visible(turn.id, turn.outbox, setup.redactor)
    end: model_event.MessageEnd | model_event.StreamFailed | None = None
    try:
        async with aclosing(setup.model.stream(request)) as stream:
            async for event in stream:
                if isinstance(event, model_event.MessageEnd | model_event.StreamFailed):
                    end = event
                    break
                await _pass_on(turn, visible, event)
        return await _ended(turn, visible, end)
    except anyio.get_cancelled_exc_class():
        if visible.text.strip():
            turn.text = visible.text.strip()
            session.note_interrupted(turn.id, visible.text)
        raise


async def _pass_on(turn: Turn, visible: Visible, event: model_event.ModelEvent) -> None:
    match event:
        case model_event.TextDelta(text):
            await visible.feed(TextDelta, text)
        case model_event.ThinkingDelta(text):
            await visible.feed(ThinkingDelta, text)
        case model_event.Quirk(kind, detail):
            detail = turn.setup.redactor.text(detail).text
            turn.session.note(turn.id, "quirk", kind=kind, detail=detail)
            await turn.send(Quirk(turn.id, kind, detail))
        case model_event.Learned(capability, value, because):
            value = turn.setup.redactor.text(value).text
            because = turn.setup.redactor.text(because).text
            turn.session.note(turn.id, "learned", capability=capability, value=value)
            await turn.send(Learned(turn.id, capability, value, because))
        case _:
            # Calls are reported when they are dealt with, whole, by the batch.
            return


async def _ended(
    turn: Turn, visible: Visible, end: model_event.MessageEnd | model_event.StreamFailed | None
) -> AssistantMessage | _Failed:
    name = turn.setup.model.name
    if isinstance(end, model_event.MessageEnd):
        await visible.finish()
        message = end.message
        await _count(turn, message.usage)
        if message.text.strip() or message.tool_calls or message.stop is ModelStop.REFUSAL:
            return message
        turn.session.note_partial(turn.id, message)
        text = "the model ended its answer without text and without a call"
        return _Failed(Failure(FailureKind.EMPTY_RESPONSE, text, model=name), visible.shown)
    if visible.shown:
        await visible.finish()
    if end is None:
        if visible.text.strip():
            turn.session.note_interrupted(turn.id, visible.text)
        text = "the model's stream stopped without an end"
        return _Failed(Failure(FailureKind.UNKNOWN, text, model=name), visible.shown)
    if end.partial is not None:
        await _count(turn, end.partial.usage)
        turn.session.note_partial(turn.id, end.partial)
    message = turn.setup.redactor.text(end.failure.message).text
    failure = replace(end.failure, message=message, partial=end.failure.partial and visible.shown)
    return _Failed(failure, visible.shown)


async def _count(turn: Turn, usage: Usage | None) -> None:
    turn.tally.count_usage(usage)
    if usage is not None:
        await turn.send(UsageReported(turn.id, turn.setup.model.name, encode_usage(usage)))
