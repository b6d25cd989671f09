"""Requests of the Anthropic Messages API.

Tool results are user content there, and neighbours of one role are one turn, so a message is
encoded as its content blocks and the turns are put together around them. The last block of a
prefix carries the cache marker; it is spliced into the kept bytes, so moving it costs no encoding.
"""

from __future__ import annotations

import re
from hashlib import sha256
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

DEFAULT_MAX_TOKENS = 16_384
"""The API demands a limit; this is the default everywhere (spec/diagnostics.md 8)."""

MIN_THINKING_BUDGET = 1024
"""The API's own lower bound."""

BUDGET_TOKENS = {
    "minimal": 1024,
    "low": 4096,
    "medium": 10_240,
    "high": 24_576,
    "xhigh": 32_768,
    "max": 65_536,
}
"""Thinking tokens for an effort on models that take a budget; never more than half the limit."""

_MARK = b',"cache_control":{"type":"ephemeral"}}'
_MARKED_TURNS = 2
"""Of the four markers one is for the tools and one for the system prompt. The last turn's marker
writes the cache, the one before it finds it again after a turn of more blocks than the API looks
back over (20)."""

_NOT_ID = re.compile(r"[^A-Za-z0-9_-]")


def encode_tool(tool: ToolSchema) -> dict[str, Any]:
    """Return one schema in the API's form."""
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def encode_body(
    request: ModelRequest, profile: Profile, origin: str, tools: encoding.ToolsEncoding
) -> bytes:
    """Return the whole request."""
    fields: dict[str, Any] = {
        "model": profile.model,
        "max_tokens": _limit(request, profile),
        "stream": True,
    }
    thinks = _thinking(request, profile, origin, fields)
    # With thinking on, the API takes no temperature but its default.
    if request.temperature is not None and profile.temperature and not thinks:
        fields["temperature"] = request.temperature
    parts = [encode(fields)[:-1]]
    if profile.tools and request.tools:
        fragment = tools.fragment(request.tools)
        parts += [b',"tools":[', _marked(fragment) if profile.cache_markers else fragment, b"]"]
        choice = _tool_choice(request, profile)
        if choice:
            parts += [b',"tool_choice":', encode(choice)]
    if request.system:
        system = encode({"type": "text", "text": request.system})
        parts += [b',"system":[', _marked(system) if profile.cache_markers else system, b"]"]
    parts += [b',"messages":[', _turns(request, profile, origin), b"]"]
    if profile.extra_body:
        parts += [b",", encode(profile.extra_body)[1:-1]]
    parts.append(b"}")
    return b"".join(parts)


def _limit(request: ModelRequest, profile: Profile) -> int:
    return request.max_output_tokens or profile.max_output_tokens or DEFAULT_MAX_TOKENS


def _thinking(request: ModelRequest, profile: Profile, origin: str, fields: dict[str, Any]) -> bool:
    """Add the fields that ask for thinking; return whether the answer may think."""
    # The API refuses thinking beside a forced call.
    wanted = request.effort is not None and request.tool_choice != "required"
    if profile.thinking == "budget":
        budget = min(BUDGET_TOKENS.get(request.effort or "", 0), _limit(request, profile) // 2)
        if wanted and budget >= MIN_THINKING_BUDGET and _may_budget(request, profile, origin):
            fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
            return True
        return False
    if profile.thinking == "adaptive":
        if request.effort == "off" or request.tool_choice == "required":
            if profile.thinking_off:
                fields["thinking"] = {"type": "disabled"}
            return not profile.thinking_off
        if wanted:
            fields["thinking"] = {"type": "adaptive"}
            word = encoding.effort_word(request.effort, profile.efforts)
            if word:
                fields["output_config"] = {"effort": word}
        # Without a word from us the model decides, and may think.
        return True
    return False


def _may_budget(request: ModelRequest, profile: Profile, origin: str) -> bool:
    """With a budget the API demands that the last answer begins with its thinking; one that
    another provider wrote, or that was written without thinking, has none."""
    for message in reversed(request.messages):
        if isinstance(message, AssistantMessage) and encoding.is_spoken(message):
            first = message.content[0]
            return isinstance(first, Thinking) and _is_ours(first, profile, origin)
    return True


def _is_ours(part: Thinking, profile: Profile, origin: str) -> bool:
    return profile.reasoning_history and part.wire == origin and bool(part.opaque)


def _tool_choice(request: ModelRequest, profile: Profile) -> dict[str, Any] | None:
    serial = {} if profile.parallel_tool_calls else {"disable_parallel_tool_use": True}
    match request.tool_choice:
        case "required":
            return {"type": "any", **serial}
        case "none":
            return {"type": "none"}
        case "auto":
            return {"type": "auto", **serial} if serial else None


def _turns(request: ModelRequest, profile: Profile, origin: str) -> bytes:
    key = f"{origin}:{encoding.variant(profile)}"
    turns: list[tuple[str, list[bytes]]] = []
    fragments = encoding.kept(request.messages, key, lambda m: _blocks(m, profile, origin))
    for message, fragment in zip(request.messages, fragments, strict=True):
        if not fragment:
            continue
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if turns and turns[-1][0] == role:
            turns[-1][1].append(fragment)
        else:
            turns.append((role, [fragment]))
    if profile.cache_markers:
        users = [fragments for role, fragments in turns if role == "user"]
        for fragments in users[-_MARKED_TURNS:]:
            fragments[-1] = _marked(fragments[-1])
    return b",".join(
        b'{"role":"%s","content":[%s]}' % (role.encode("ascii"), b",".join(fragments))
        for role, fragments in turns
    )


def _marked(fragment: bytes) -> bytes:
    return fragment[:-1] + _MARK


def _blocks(message: Message, profile: Profile, origin: str) -> list[dict[str, Any]]:
    match message:
        case UserMessage():
            return _content(message.content, images=profile.images)
        case ToolResultMessage():
            # The API refuses pictures in a result that is marked as an error.
            images = profile.images and profile.result_images and not message.failed
            block: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": _id(message.call_id),
                "content": _content(message.content, images=images),
            }
            if message.failed:
                block["is_error"] = True
            return [block]
        case AssistantMessage() if not encoding.is_spoken(message):
            return []
        case AssistantMessage():
            blocks: list[dict[str, Any]] = []
            for part in message.content:
                match part:
                    case Text():
                        # The API refuses blocks without visible text.
                        if part.text.strip():
                            blocks.append({"type": "text", "text": part.text})
                    case Thinking():
                        if _is_ours(part, profile, origin):
                            blocks.append(dict(part.opaque or {}))
                    case ToolCall():
                        blocks.append(
                            {
                                "type": "tool_use",
                                "id": _id(part.id),
                                "name": part.name,
                                "input": encoding.call_arguments(part),
                            }
                        )
            # The API refuses an answer whose last block is thinking: it explains nothing then.
            while blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
                blocks.pop()
            return blocks


def _content(content: tuple[Text | Image, ...], *, images: bool) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in content:
        match part:
            case Text():
                if part.text.strip():
                    blocks.append({"type": "text", "text": part.text})
            case Image() if images:
                source = {
                    "type": "base64",
                    "media_type": part.media_type,
                    "data": encoding.base64_text(part.data),
                }
                blocks.append({"type": "image", "source": source})
            case Image():
                blocks.append({"type": "text", "text": encoding.image_note(part)})
    return blocks


def _id(call_id: str) -> str:
    """Other providers' ids may hold characters that this API refuses; two ids stay two."""
    fitting = _NOT_ID.sub("_", call_id)
    if fitting == call_id:
        return call_id
    return f"{fitting}_{sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
