"""What a conversation is made of. Every wire translates from and to these, and to nothing else.

All parts are immutable. A message compares by identity, so that a wire may keep the bytes it
encoded for it: a history is encoded once however many requests carry it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .usage import Usage


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: the raw bytes, not base64. `media_type` is e.g. `image/png`."""

    media_type: str
    data: bytes
    name: str = ""


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning that the provider showed.

    `opaque` is the provider's own block as it came (signature, encrypted content, item id), sent
    back unread and only on the wire named by `wire`. Empty text with `opaque` is redacted thinking.
    """

    text: str
    wire: str = ""
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asked for.

    `arguments` is None exactly when `problem` says why `raw` (the JSON text as it arrived) is not
    a usable object; such a call is answered with an error result and never run.
    `opaque` carries provider fields that must come back with the call (e.g. a thought signature).
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    problem: str = ""
    opaque: Mapping[str, Any] | None = None


class StopReason(StrEnum):
    """Why the model stopped writing."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True, eq=False)
class UserMessage:
    """What a person says, or the runtime on their behalf (then `synthetic` names the kind)."""

    content: tuple[Text | Image, ...]
    synthetic: str = ""
    encoded: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class AssistantMessage:
    """What the model wrote, parts in the order they came."""

    content: tuple[Text | Thinking | ToolCall, ...]
    stop: StopReason
    model: str = ""
    usage: Usage | None = None
    response_id: str = ""
    encoded: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)

    @property
    def text(self) -> str:
        """All text parts joined; no thinking."""
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in order."""
        return tuple(part for part in self.content if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True, eq=False)
class ToolResultMessage:
    """The answer to one call: the text that the model reads, derived from a tool `Result`."""

    call_id: str
    tool: str
    content: tuple[Text | Image, ...]
    failed: bool = False
    encoded: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)


Message = UserMessage | AssistantMessage | ToolResultMessage


def user(text: str) -> UserMessage:
    """Return a user message with one text part."""
    return UserMessage((Text(text),))
