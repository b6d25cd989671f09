"""Tools for a model whose server or template takes none: described in the system prompt, and the
history's calls and results written as the text that the model would have written and read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from truepenny.model.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from truepenny.model.request import ModelRequest, ToolSchema

_INSTRUCTIONS = """\
You can call tools. To call one, write this and nothing after it:
<tool_call>{"name": "TOOL", "arguments": {...}}</tool_call>
The answer comes in the next message. Call only these tools, with arguments that fit:
"""


class PromptedTools:
    """Rewrites requests; keeps what it rewrote, so that a message is encoded once by the wire."""

    def __init__(self) -> None:
        self._tools: tuple[ToolSchema, ...] = ()
        self._instructions = ""
        self._kept: dict[tuple[int, ...], tuple[tuple[Message, ...], Message]] = {}

    def rewrite(self, request: ModelRequest) -> ModelRequest:
        """Return the request without tools in it, and with them in its text."""
        if request.tools is not self._tools:
            self._tools, self._instructions = request.tools, instructions(request.tools)
        system = "\n\n".join(part for part in (request.system, self._instructions) if part)
        return replace(request, system=system, messages=self._flat(request.messages), tools=())

    def _flat(self, messages: Sequence[Message]) -> list[Message]:
        kept: dict[tuple[int, ...], tuple[tuple[Message, ...], Message]] = {}
        flat: list[Message] = []
        for group in _groups(messages):
            key = tuple(id(message) for message in group)
            # The sources are kept beside the result: an id is only unique while its object lives.
            entry = self._kept.get(key) or (tuple(group), _flattened(group))
            kept[key] = entry
            flat.append(entry[1])
        self._kept = kept
        return flat


def instructions(tools: Sequence[ToolSchema]) -> str:
    """Return what the system prompt says about the tools; empty without any."""
    if not tools:
        return ""
    lines = [
        json.dumps(
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            ensure_ascii=False,
        )
        for tool in tools
    ]
    return _INSTRUCTIONS + "\n".join(lines)


def _groups(messages: Sequence[Message]) -> list[list[Message]]:
    """Join neighbours that the model reads as one turn: many templates refuse two in a row."""
    groups: list[list[Message]] = []
    for message in messages:
        ours = isinstance(message, AssistantMessage)
        if groups and not ours and not isinstance(groups[-1][-1], AssistantMessage):
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _flattened(group: list[Message]) -> Message:
    if len(group) == 1:
        only = group[0]
        if isinstance(only, AssistantMessage):
            return _assistant(only)
        if isinstance(only, UserMessage):
            return only
    parts: list[Text | Image] = []
    for message in group:
        assert not isinstance(message, AssistantMessage), "assistant messages stand alone"
        if parts:
            parts.append(Text("\n\n"))
        parts += _result(message) if isinstance(message, ToolResultMessage) else message.content
    return UserMessage(tuple(parts))


def _assistant(message: AssistantMessage) -> AssistantMessage:
    if not message.tool_calls:
        return message
    parts: list[Text | Thinking | ToolCall] = [
        Text(_written(part)) if isinstance(part, ToolCall) else part for part in message.content
    ]
    return replace(message, content=tuple(parts), encoded={})


def _written(call: ToolCall) -> str:
    arguments = call.raw if call.arguments is None else json.dumps(dict(call.arguments))
    return f'\n<tool_call>{{"name": {json.dumps(call.name)}, "arguments": {arguments}}}</tool_call>'


def _result(message: ToolResultMessage) -> list[Text | Image]:
    state = ' failed="true"' if message.failed else ""
    opening = f"<tool_response name={json.dumps(message.tool)}{state}>\n"
    return [Text(opening), *message.content, Text("\n</tool_response>")]
