"""Requests of the OpenAI Chat Completions API and of the many servers that speak it."""

from __future__ import annotations

from typing import Any

from truepenny.model.json_value import encode
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
from truepenny.model.profile import Profile
from truepenny.model.request import ModelRequest, ToolSchema

from . import encoding


def encode_tool(tool: ToolSchema) -> dict[str, Any]:
    """Return one schema in the API's form."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def encode_body(
    request: ModelRequest, profile: Profile, origin: str, tools: encoding.ToolsEncoding
) -> bytes:
    """Return the whole request."""
    fields: dict[str, Any] = {"model": profile.model, "stream": True}
    if profile.stream_usage:
        fields["stream_options"] = {"include_usage": True}
    if profile.reports_cost:
        fields["usage"] = {"include": True}
    limit = request.max_output_tokens or profile.max_output_tokens
    if limit is not None:
        fields[profile.max_tokens_field] = limit
    if request.temperature is not None and profile.temperature:
        fields["temperature"] = request.temperature
    if profile.thinking == "effort":
        word = encoding.effort_word(request.effort, profile.efforts)
        if word:
            fields["reasoning_effort"] = word
    parts = [encode(fields)[:-1]]
    if profile.tools and request.tools:
        parts += [b',"tools":[', tools.fragment(request.tools), b"]"]
        if request.tool_choice != "auto":
            parts.append(b',"tool_choice":"%s"' % request.tool_choice.encode("ascii"))
        if not profile.parallel_tool_calls:
            parts.append(b',"parallel_tool_calls":false')
    key = f"{origin}:{encoding.variant(profile)}"
    turns = encoding.kept(request.messages, key, lambda m: _messages(m, profile, origin))
    if request.system:
        turns.insert(0, encode({"role": profile.system_role, "content": request.system}))
    parts += [b',"messages":[', b",".join(filter(None, turns)), b"]"]
    if profile.extra_body:
        parts += [b",", encode(profile.extra_body)[1:-1]]
    parts.append(b"}")
    return b"".join(parts)


def _messages(message: Message, profile: Profile, origin: str) -> list[dict[str, Any]]:
    match message:
        case UserMessage():
            return [{"role": "user", "content": _content(message.content, profile)}]
        case ToolResultMessage():
            # The API has no place for pictures in a tool result; the note says that one was there.
            words = "\n".join(
                part.text if isinstance(part, Text) else encoding.image_note(part)
                for part in message.content
            )
            return [{"role": "tool", "tool_call_id": message.call_id, "content": words}]
        case AssistantMessage():
            return _assistant(message, profile, origin)


def _assistant(message: AssistantMessage, profile: Profile, origin: str) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    for part in message.content:
        match part:
            case ToolCall():
                call = {
                    "id": part.id,
                    "type": "function",
                    "function": {"name": part.name, "arguments": encoding.arguments_text(part)},
                }
                calls.append({**encoding.opaque_fields(part, origin), **call})
            case Thinking():
                if profile.reasoning_history and part.wire == origin and part.opaque:
                    fields.update(part.opaque)
            case Text():
                pass
    words = message.text
    if not words and not calls:
        return []
    fields["role"] = "assistant"
    fields["content"] = words or None
    if calls:
        fields["tool_calls"] = calls
    return [fields]


def _content(content: tuple[Text | Image, ...], profile: Profile) -> str | list[dict[str, Any]]:
    if all(isinstance(part, Text) for part in content):
        return "\n".join(part.text for part in content if isinstance(part, Text))
    parts: list[dict[str, Any]] = []
    for part in content:
        match part:
            case Text():
                parts.append({"type": "text", "text": part.text})
            case Image() if profile.images:
                url = {"url": encoding.data_url(part)}
                parts.append({"type": "image_url", "image_url": url})
            case Image():
                parts.append({"type": "text", "text": encoding.image_note(part)})
    return parts
