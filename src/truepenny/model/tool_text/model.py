"""A model whose text is read for tool calls. Stands around any wire; changes nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from truepenny.model.event import (
    MessageEnd,
    ModelEvent,
    Quirk,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from truepenny.model.message import AssistantMessage, StopReason, Text, Thinking, ToolCall
from truepenny.model.request import Model, ModelRequest, ToolSchema
from truepenny.system.ids import Ids, RandomIds

from .form import ANY, FENCE, hold_from
from .parse import MAX_PARSED_CHARS, Parsed, parse
from .prompt import PromptedTools

QUIRK = "text_tool_call"


class TextToolModel:
    """Understands tool calls that the inner model writes as text.

    Text that may be the beginning of a call is held back until it is decided; all other text
    streams as it comes. With `prompted` the tools are described in the system prompt, for servers
    or templates that take none. Each call found is announced by a `Quirk` of kind
    `text_tool_call`; so is a passage that looks like a call and cannot be used as one.
    """

    def __init__(self, model: Model, *, prompted: bool = False, ids: Ids | None = None) -> None:
        self._model = model
        self._prompted = PromptedTools() if prompted else None
        self._ids = ids or RandomIds()

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    async def close(self) -> None:
        """Close the inner model."""
        await self._model.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask; see `truepenny.model.event` for the order of events."""
        tools = request.tools if request.tool_choice != "none" else ()
        asked = self._prompted.rewrite(request) if self._prompted else request
        held = _Held()
        async with aclosing(self._model.stream(asked)) as events:
            async for event in events:
                if not tools:
                    yield event
                elif isinstance(event, TextDelta):
                    if passed := held.feed(event.text):
                        yield TextDelta(passed)
                elif isinstance(event, MessageEnd):
                    for last in self._finish(event, held, tools):
                        yield last
                else:
                    yield event

    def _finish(
        self, end: MessageEnd, held: _Held, tools: Sequence[ToolSchema]
    ) -> list[ModelEvent]:
        parsed = Parsed(end.message.text)
        if not end.message.tool_calls:
            parsed = parse(end.message.text, tools, self._ids)
        events: list[ModelEvent] = []
        if not parsed.calls:
            if parsed.rejected:
                events.append(Quirk(QUIRK, f"left as text: {parsed.rejected}"))
            if rest := held.rest():
                events.append(TextDelta(rest))
            return [*events, end]
        if rest := parsed.prose[held.passed :].rstrip():
            events.append(TextDelta(rest))
        after = f"; {parsed.dropped} characters after it left out" if parsed.dropped else ""
        for call in parsed.calls:
            state = f"unusable, {call.problem}" if call.problem else "fits the schema"
            events.append(Quirk(QUIRK, f"{call.name} was written as text: {state}{after}"))
            after = ""
            events += [ToolCallStart(call.id, call.name), ToolCallEnd(call)]
        return [*events, MessageEnd(_with_calls(end.message, parsed))]


class _Held:
    """The text so far: `passed` characters of it were let through."""

    def __init__(self) -> None:
        self.passed = 0
        self._parts: list[str] = []
        self._blank = True
        self._fenced = False
        self._length = 0
        self._waits_for = ANY

    def feed(self, text: str) -> str:
        """Return what may pass now."""
        self._parts.append(text)
        self._length += len(text)
        if self._waits_for is not ANY and not (self._waits_for and self._waits_for in text):
            return self._release() if self._length > MAX_PARSED_CHARS else ""
        held = "".join(self._parts)
        hold = hold_from(held, blank=self._blank, fenced=self._fenced)
        self._waits_for = hold.waits_for
        passed = held[: hold.start]
        self._parts, self._length = [held[hold.start :]], len(held) - hold.start
        return self._pass(passed)

    def rest(self) -> str:
        """Return what is still held back."""
        return self._release()

    def _release(self) -> str:
        held = "".join(self._parts)
        self._parts, self._length, self._waits_for = [], 0, ANY
        return self._pass(held)

    def _pass(self, text: str) -> str:
        self.passed += len(text)
        self._blank = self._blank and not text.strip()
        # A marker is never split between passed and held text, so counting them is exact.
        self._fenced ^= bool(text.count(FENCE) % 2)
        return text


def _with_calls(message: AssistantMessage, parsed: Parsed) -> AssistantMessage:
    thinking: list[Text | Thinking | ToolCall] = [
        part for part in message.content if isinstance(part, Thinking)
    ]
    prose = parsed.prose.rstrip()
    text = [Text(prose)] if prose else []
    return replace(
        message,
        content=(*thinking, *text, *parsed.calls),
        stop=StopReason.TOOL_USE,
        encoded={},
    )
