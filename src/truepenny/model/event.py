"""What a model streams. For a provider's fault a stream never raises: it ends with an event.

Order: any number of deltas, calls, problems and notices, then exactly one of `MessageEnd` or
`StreamFailed`. A consumer that stops reading closes the stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from .failure import Failure
from .message import AssistantMessage, ToolCall


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More visible reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins; its arguments are still arriving."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a call's argument text."""

    id: str
    json: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A call is complete, usable or with a `problem`."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Quirk:
    """A fault in the provider's stream that was seen and dealt with; never silent.

    `kind` is one of: `malformed_arguments`, `missing_call_id`, `duplicate_call_id`,
    `duplicate_delta`, `unknown_event`, `bad_json`, `text_tool_call`, `invalid_tool_name`.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Learned:
    """A capability was learned from a refusal and the request is sent once more."""

    capability: str
    value: str
    because: str


@dataclass(frozen=True, slots=True)
class MessageEnd:
    """The message is complete. Terminal."""

    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class StreamFailed:
    """The request failed; `partial` had arrived and is never an answer. Terminal."""

    failure: Failure
    partial: AssistantMessage | None = None


ModelEvent = (
    TextDelta
    | ThinkingDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Quirk
    | Learned
    | MessageEnd
    | StreamFailed
)
