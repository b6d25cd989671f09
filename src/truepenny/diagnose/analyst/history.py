"""Reads a request's messages back: what was asked, what was called, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from truepenny.model.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

_OUTCOME = re.compile(r"(?:^|\| |\[)outcome ([a-z_]+)")
_REASON = re.compile(r"\| reason ([A-Za-z0-9_.-]+)")
_LINE = re.compile(r"^\[(hint|command|from|partial|unknown): (.*)\]$")


@dataclass(frozen=True, slots=True)
class Answered:
    """One call and its result as the model sees it (`truepenny.tool.view`).

    `outcome` is `unknown` where the header is not one; `body` is the target's own text.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any]
    outcome: str
    reason: str = ""
    hint: str = ""
    body: str = ""
    source: str = ""
    """Where the answer came from, as the header states it (`cluster x, namespace y`)."""
    whole: bool = True
    """Whether the header states no cut and no doubt about completeness."""

    @property
    def namespace(self) -> str:
        """The namespace that the header states, or an empty string."""
        found = re.search(r"\bnamespace ([a-z0-9-]+)", self.source)
        return found[1] if found and found[1] != "all" else ""

    @property
    def argv(self) -> tuple[str, ...]:
        """The kubectl arguments, empty for other tools."""
        args = self.arguments.get("args")
        if not isinstance(args, list | tuple):
            return ()
        return tuple(str(each) for each in cast("Sequence[object]", args))

    @property
    def cluster(self) -> str:
        """The cluster that was named, or an empty string."""
        named = self.arguments.get("cluster")
        return named if isinstance(named, str) else ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The history, cut into this turn and what came before.

    `calls` are of this turn; `past` is older, and may be as old as the session. A call of the past
    that was stopped is in neither: it told nothing, and what stopped it (an abort, a time limit,
    the end of the process) is over.

    `question` joins what people said since the last final answer; `earlier` are questions before
    it, oldest first. `count` is the number of calls ever made, for numbering the next.
    """

    question: str
    earlier: tuple[str, ...] = ()
    calls: tuple[Answered, ...] = ()
    past: tuple[Answered, ...] = ()
    count: int = 0
    ids: frozenset[str] = field(default_factory=frozenset[str])


def read_history(messages: Sequence[Message]) -> Conversation:
    """Read the messages of a request."""
    start = asked = 0
    for position, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and not message.tool_calls:
            start = position + 1
        elif isinstance(message, UserMessage) and not message.synthetic:
            asked = position
    questions = [_said(message) for message in messages[start:] if isinstance(message, UserMessage)]
    earlier = [_said(message) for message in messages[:start] if isinstance(message, UserMessage)]
    # A turn that was cut off has no answer, but it is as past as one that has.
    before, now = _answered(messages[:asked]), _answered(messages[asked:])
    calls = [
        call
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
    return Conversation(
        question="\n".join(part for part in questions if part),
        earlier=tuple(part for part in earlier if part),
        calls=now,
        past=tuple(call for call in before if call.outcome != "interrupted"),
        count=len(calls),
        ids=frozenset(call.id for call in calls),
    )


def read_result(call: ToolCall, message: ToolResultMessage) -> Answered:
    """Read one result's header and body."""
    text = "".join(part.text for part in message.content if isinstance(part, Text))
    head, _, body = text.partition("\n\n")
    lines = head.splitlines() if text.startswith("[") else []
    first = lines[0] if lines else ""
    outcome = _OUTCOME.search(first)
    reason = _REASON.search(first)
    notes = {match[1]: match[2] for line in lines[1:] if (match := _LINE.match(line))}
    return Answered(
        id=call.id,
        tool=call.name,
        arguments=call.arguments or {},
        outcome=outcome[1] if outcome else "unknown",
        reason=reason[1] if reason else "",
        hint=notes.get("hint", ""),
        body=body if lines else text,
        source=notes.get("from", ""),
        whole=not notes.keys() & {"partial", "unknown"},
    )


def _answered(messages: Sequence[Message]) -> tuple[Answered, ...]:
    calls: dict[str, ToolCall] = {}
    found: list[Answered] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.tool_calls}
        elif isinstance(message, ToolResultMessage) and message.call_id in calls:
            found.append(read_result(calls[message.call_id], message))
    return tuple(found)


def _said(message: UserMessage) -> str:
    if message.synthetic and message.synthetic != "steer":
        return ""
    return "".join(part.text for part in message.content if isinstance(part, Text)).strip()
