"""Requests of the OpenAI Responses API, kept stateless: nothing is stored at the provider, and
reasoning comes back to it encrypted."""

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
    """Return one schema in the API's form; `strict` would demand a subset of JSON Schema."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def encode_body(
    request: ModelRequest, profile: Profile, origin: str, tools: encoding.ToolsEncoding
) -> bytes:
    """Return the whole request."""
    fields: dict[str, Any] = {"model": profile.model, "stream": True, "store": False}
    limit = request.max_output_tokens or profile.max_output_tokens
    if limit is not None:
        fields["max_output_tokens"] = limit
    if request.temperature is not None and profile.temperature:
        fields["temperature"] = request.temperature
    if profile.thinking == "effort":
        fields["include"] = ["reasoning.encrypted_content"]
        word = encoding.effort_word(request.effort, profile.efforts)
        if word:
            fields["reasoning"] = {"effort": word}
    if request.system:
        fields["instructions"] = request.system
    parts = [encode(fields)[:-1]]
    if profile.tools and request.tools:
        parts += [b',"tools":[', tools.fragment(request.tools), b"]"]
        if request.tool_choice != "auto":
            parts.append(b',"tool_choice":"%s"' % request.tool_choice.encode("ascii"))
        if not profile.parallel_tool_calls:
            parts.append(b',"parallel_tool_calls":false')
    key = f"{origin}:{encoding.variant(profile)}"
    items = encoding.kept(request.messages, key, lambda m: _items(m, profile, origin))
    parts += [b',"input":[', b",".join(filter(None, items)), b"]"]
    if profile.extra_body:
        parts += [b",", encode(profile.extra_body)[1:-1]]
    parts.append(b"}")
    return b"".join(parts)


def _items(message: Message, profile: Profile, origin: str) -> list[dict[str, Any]]:
    match message:
        case UserMessage():
            content = _content(message.content, images=profile.images)
            return [{"role": "user", "content": content}]
        case ToolResultMessage():
            pictures = any(isinstance(part, Image) for part in message.content)
            output = _content(message.content, images=profile.images and profile.result_images)
            plain = "\n".join(part.text for part in message.content if isinstance(part, Text))
            return [
                {
                    "type": "function_call_output",
                    "call_id": message.call_id,
                    "output": output if pictures else plain,
                }
            ]
        case AssistantMessage() if not encoding.is_spoken(message):
            return []
        case AssistantMessage():
            return [
                item
                for part in message.content
                if (item := _part(part, profile, origin)) is not None
            ]


def _part(part: Text | Thinking | ToolCall, profile: Profile, origin: str) -> dict[str, Any] | None:
    match part:
        case Text():
            if not part.text:
                return None
            content = [{"type": "output_text", "text": part.text}]
            return {"type": "message", "role": "assistant", "content": content}
        case Thinking():
            opaque = part.opaque or {}
            # Without its encrypted content an item is only a reference to a store that we refuse.
            usable = part.wire == origin and opaque.get("encrypted_content")
            return dict(opaque) if profile.reasoning_history and usable else None
        case ToolCall():
            return {
                **encoding.opaque_fields(part, origin),
                "type": "function_call",
                "call_id": part.id,
                "name": part.name,
                "arguments": encoding.arguments_text(part),
            }


def _content(content: tuple[Text | Image, ...], *, images: bool) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for part in content:
        match part:
            case Text():
                parts.append({"type": "input_text", "text": part.text})
            case Image() if images:
                parts.append({"type": "input_image", "image_url": encoding.data_url(part)})
            case Image():
                parts.append({"type": "input_text", "text": encoding.image_note(part)})
    return parts
