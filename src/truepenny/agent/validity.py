"""Checks a whole history against every rule of `truepenny.agent.history`, independently of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from truepenny.model.message import (
    AssistantMessage,
    Message,
    Text,
    Thinking,
    ToolResultMessage,
    UserMessage,
)

from .repair import RepairKind

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Tool names that every provider takes (diagnostics spec 8)."""


LONGEST_CALL_ID = 256
"""Characters of a call id: the longest known one has 64, and each is written many times."""


def usable_call_id(call_id: str) -> bool:
    """Whether an id can be sent, written and shown as it is: printable, and not too long."""
    return bool(call_id.strip()) and len(call_id) <= LONGEST_CALL_ID and call_id.isprintable()


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule, at the index of a message."""

    index: int
    kind: RepairKind
    detail: str = ""


def validate(messages: Sequence[Message]) -> tuple[Violation, ...]:
    """Return every broken rule; none for a history that may be sent.

    Costs time in the length of the history: for tests and for checks after an edit.
    """
    found: list[Violation] = []
    ids: set[str] = set()
    waiting: list[str] = []
    previous: Message | None = None
    for index, message in enumerate(messages):
        if isinstance(message, ToolResultMessage):
            if not waiting or waiting[0] != message.call_id:
                found.append(Violation(index, RepairKind.ORPHAN_RESULT, message.call_id))
            if message.call_id in waiting:
                waiting.remove(message.call_id)
        else:
            found.extend(Violation(index, RepairKind.MISSING_RESULT, call) for call in waiting)
            waiting = []
        if isinstance(message, AssistantMessage):
            if not isinstance(previous, UserMessage | ToolResultMessage):
                found.append(Violation(index, RepairKind.WRONG_ORDER, "no user message before"))
            found.extend(_call_violations(index, message, ids))
            waiting = [call.id for call in message.tool_calls]
        elif previous is None and not isinstance(message, UserMessage):
            found.append(Violation(index, RepairKind.WRONG_ORDER, "no user message first"))
        if not _filled(message):
            found.append(Violation(index, RepairKind.EMPTY_MESSAGE))
        if any(isinstance(part, Text) and not part.text.strip() for part in message.content):
            found.append(Violation(index, RepairKind.EMPTY_PART))
        previous = message
    last = len(messages) - 1
    found.extend(Violation(last, RepairKind.MISSING_RESULT, call) for call in waiting)
    if previous is None or isinstance(previous, AssistantMessage):
        found.append(Violation(last, RepairKind.WRONG_ORDER, "nothing to answer at the end"))
    return tuple(found)


def _filled(message: Message) -> bool:
    if isinstance(message, AssistantMessage):
        return any(not isinstance(part, Thinking) for part in message.content)
    return bool(message.content)


def _call_violations(index: int, message: AssistantMessage, ids: set[str]) -> Iterable[Violation]:
    for call in message.tool_calls:
        if not call.id.strip():
            yield Violation(index, RepairKind.MISSING_CALL_ID)
        elif not usable_call_id(call.id):
            yield Violation(index, RepairKind.INVALID_CALL_ID, call.id)
        elif call.id in ids:
            yield Violation(index, RepairKind.DUPLICATE_CALL_ID, call.id)
        if not TOOL_NAME.fullmatch(call.name):
            yield Violation(index, RepairKind.INVALID_TOOL_NAME, call.name)
        ids.add(call.id)
