"""What the encoders of all wires share: kept bytes, effort words, notes for pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

from truepenny.model.json_value import encode
from truepenny.model.message import AssistantMessage, Image, Message, ToolCall
from truepenny.model.profile import Profile
from truepenny.model.request import Effort, ToolSchema

_RANK: dict[str, int] = {
    "none": 0,
    "off": 0,
    "minimal": 1,
    "low": 2,
    "medium": 3,
    "high": 4,
    "xhigh": 5,
    "max": 6,
}


class ToolsEncoding:
    """The encoded tool schemas of a session, kept as long as the same tuple is asked for."""

    def __init__(self, encode_tool: Callable[[ToolSchema], dict[str, Any]]) -> None:
        self._encode_tool = encode_tool
        self._tools: tuple[ToolSchema, ...] = ()
        self._fragment = b""

    def fragment(self, tools: tuple[ToolSchema, ...]) -> bytes:
        """Return the schemas as JSON objects with commas between, no brackets."""
        if tools is not self._tools:
            self._fragment = b",".join(encode(self._encode_tool(tool)) for tool in tools)
            self._tools = tools
        return self._fragment


def kept(
    messages: Sequence[Message], key: str, build: Callable[[Message], list[dict[str, Any]]]
) -> list[bytes]:
    """Return each message as JSON objects with commas between, built once for each `key`.

    `key` names everything the bytes depend on beside the message itself. What was built before
    costs one look-up: this runs over the whole history in each request.
    """
    fragments = [message.encoded.get(key) for message in messages]
    return [
        _built(messages[at], key, build) if fragment is None else fragment
        for at, fragment in enumerate(fragments)
    ]


def _built(message: Message, key: str, build: Callable[[Message], list[dict[str, Any]]]) -> bytes:
    fragment = message.encoded[key] = b",".join(encode(value) for value in build(message))
    return fragment


def variant(profile: Profile) -> str:
    """Return the profile fields that a message's bytes depend on, as a short word."""
    return "".join(
        letter if flag else "-"
        for letter, flag in (
            ("i", profile.images),
            ("r", profile.result_images),
            ("t", profile.reasoning_history),
        )
    )


def effort_word(effort: Effort | None, efforts: tuple[str, ...]) -> str | None:
    """Fold an effort to the nearest word that the model takes, the weaker one at equal distance.

    None when nothing was asked or the model takes no such word.
    """
    if effort is None or not efforts:
        return None
    wanted = _RANK[effort]
    return min(efforts, key=lambda word: (abs(_RANK.get(word, 3) - wanted), _RANK.get(word, 3)))


def base64_text(data: bytes) -> str:
    """Return the bytes as base64."""
    return b64encode(data).decode("ascii")


def data_url(image: Image) -> str:
    """Return a picture as a `data:` address."""
    return f"data:{image.media_type};base64,{base64_text(image.data)}"


def image_note(image: Image) -> str:
    """Say in the text that a picture was here, for a place that cannot carry it."""
    name = f" {image.name}" if image.name else ""
    return f"[image{name} {image.media_type}, {len(image.data)} bytes: not shown to this model]"


def arguments_text(call: ToolCall) -> str:
    """Return a call's arguments as JSON text that every server can read back."""
    if call.arguments is not None and call.raw.strip():
        return call.raw
    return encode(call_arguments(call)).decode("utf-8")


def call_arguments(call: ToolCall) -> dict[str, Any]:
    """Return a call's arguments; those that could not be read are shown as what was written."""
    if call.arguments is None:
        return {"unreadable_arguments": call.raw}
    return dict(call.arguments)


def opaque_fields(call: ToolCall, origin: str) -> dict[str, Any]:
    """Return the provider's own fields of a call, if they came from this origin."""
    fields = (call.opaque or {}).get(origin)
    return dict(fields) if fields else {}


def is_spoken(message: AssistantMessage) -> bool:
    """Whether an answer has words or calls; providers refuse one that is reasoning alone."""
    return bool(message.text.strip()) or any(isinstance(part, ToolCall) for part in message.content)
