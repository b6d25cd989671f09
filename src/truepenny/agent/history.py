"""The one validator of a conversation: no request leaves with a history that a provider refuses.

A history is valid when
- it begins with a user message and ends with a user message or a tool result,
- each assistant message's calls are answered right after it, once each, in call order,
- no result lacks its call, and no call id occurs twice in the whole history,
- no message, and no text part, is empty or only white space,
- no assistant message follows another directly,
- each call id is 1 to 256 printable characters,
- each tool name fits [A-Za-z0-9_-]{1,64}, the narrowest rule among providers.

`History` holds this at every append in constant time, so a turn costs the same at any length. What
does not fit is repaired and reported as a typed `Repair`, never dropped in silence. The list of
messages is one object for the life of the history: wires keep what they encoded of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

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
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.result import Completeness, Facts, Result
from truepenny.tool.view import model_content

from .repair import Repair, RepairKind
from .validity import TOOL_NAME, usable_call_id

_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Appended:
    """What an operation put at the end of the history, in order, and what it had to repair."""

    messages: tuple[Message, ...] = ()
    repairs: tuple[Repair, ...] = ()


Answer = Callable[[ToolCall], ToolResultMessage]


def unanswered(call: ToolCall) -> ToolResultMessage:
    """Return the answer for a call whose result never came: nothing is known about it."""
    facts = Facts(
        cause=Cause.ABORT,
        reason="no_result",
        completeness=Completeness("unknown", "no result was recorded"),
    )
    text = "No result was recorded for this call. Whether it ran, and what it did, is not known."
    content = model_content(Result(Outcome.INTERRUPTED, (Text(text),), facts), call.id)
    return ToolResultMessage(call.id, call.name, content, failed=True)


class History:
    """A conversation that is valid after every `append`, calls still waiting for results aside."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._ids: set[str] = set()
        self._open: dict[str, ToolCall] = {}
        self._early: dict[str, ToolResultMessage] = {}

    @classmethod
    def rebuilt(cls, messages: Iterable[Message]) -> tuple[History, tuple[Repair, ...]]:
        """Return a valid history made of any messages, and what was repaired on the way."""
        history = cls()
        repairs: list[Repair] = []
        for message in messages:
            repairs.extend(history.append(message).repairs)
        return history, tuple(repairs)

    @property
    def messages(self) -> Sequence[Message]:
        """The messages: always the same list object, to be read only."""
        return self._messages

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls that still wait for their result, in call order."""
        return tuple(self._open.values())

    def __len__(self) -> int:
        return len(self._messages)

    def append(self, message: Message) -> Appended:
        """Add a message, repaired where needed. A result may come before its turn: it is held."""
        start, repairs = len(self._messages), list[Repair]()
        if isinstance(message, ToolResultMessage):
            self._append_result(message, repairs)
        elif isinstance(message, UserMessage):
            self._append_user(message, repairs)
        else:
            self._append_assistant(message, repairs)
        return Appended(tuple(self._messages[start:]), tuple(repairs))

    def seal(self, answer: Answer = unanswered) -> Appended:
        """Answer every open call with what `answer` returns for it."""
        start, repairs = len(self._messages), list[Repair]()
        self._seal(answer, repairs)
        return Appended(tuple(self._messages[start:]), tuple(repairs))

    def ready(self) -> Appended:
        """Make the history fit to be sent. Raises ValueError when it is empty."""
        if not self._messages:
            raise ValueError("a request needs at least one message")
        start, repairs = len(self._messages), list[Repair]()
        self._seal(unanswered, repairs)
        if isinstance(self._messages[-1], AssistantMessage):
            self._bridge("the history ended with the model's own message", repairs)
        return Appended(tuple(self._messages[start:]), tuple(repairs))

    def cut(self, length: int) -> tuple[Message, ...]:
        """Remove all but the first `length` messages and return the removed ones.

        Calls whose results were removed are open again.
        """
        removed = tuple(self._messages[length:])
        del self._messages[length:]
        for message in removed:
            if isinstance(message, AssistantMessage):
                self._ids.difference_update(call.id for call in message.tool_calls)
        self._early.clear()
        self._open = self._unanswered_tail()
        return removed

    def _append_user(self, message: UserMessage, repairs: list[Repair]) -> None:
        kept = tuple(_kept(message.content, repairs))
        if not kept:
            repairs.append(Repair(RepairKind.EMPTY_MESSAGE, detail="user"))
            return
        if len(kept) != len(message.content):
            message = replace(message, content=kept, encoded={})
        self._seal(unanswered, repairs)
        self._messages.append(message)

    def _append_assistant(self, message: AssistantMessage, repairs: list[Repair]) -> None:
        message = self._repaired(message, repairs)
        if not message.text and not message.tool_calls:
            repairs.append(Repair(RepairKind.EMPTY_MESSAGE, detail="assistant"))
            return
        self._seal(unanswered, repairs)
        if not self._messages:
            self._bridge("the history began with the model's message", repairs)
        elif isinstance(self._messages[-1], AssistantMessage):
            self._bridge("two messages of the model followed each other", repairs)
        for call in message.tool_calls:
            self._ids.add(call.id)
            self._open[call.id] = call
        self._messages.append(message)

    def _append_result(self, message: ToolResultMessage, repairs: list[Repair]) -> None:
        call_id = message.call_id
        if call_id not in self._open or call_id in self._early:
            repairs.append(Repair(RepairKind.ORPHAN_RESULT, call_id, message.tool))
            return
        kept = tuple(_kept(message.content, repairs, call_id))
        if not kept:
            repairs.append(Repair(RepairKind.EMPTY_RESULT, call_id))
            kept = (Text("[no content]"),)
        if len(kept) != len(message.content) or message.tool != self._open[call_id].name:
            name = self._open[call_id].name
            message = replace(message, content=kept, tool=name, encoded={})
        self._early[call_id] = message
        if next(iter(self._open)) != call_id:
            repairs.append(Repair(RepairKind.REORDERED_RESULT, call_id))
        self._release()

    def _release(self) -> None:
        """Move held results into the history as long as the next one in call order is there."""
        while self._open:
            first = next(iter(self._open))
            message = self._early.pop(first, None)
            if message is None:
                return
            del self._open[first]
            self._messages.append(message)

    def _seal(self, answer: Answer, repairs: list[Repair]) -> None:
        while self._open:
            call = next(iter(self._open.values()))
            if call.id not in self._early:
                self._early[call.id] = answer(call)
                repairs.append(Repair(RepairKind.MISSING_RESULT, call.id, call.name))
            self._release()

    def _bridge(self, why: str, repairs: list[Repair]) -> None:
        self._messages.append(UserMessage((Text("(continue)"),), synthetic="repair"))
        repairs.append(Repair(RepairKind.WRONG_ORDER, detail=why))

    def _repaired(self, message: AssistantMessage, repairs: list[Repair]) -> AssistantMessage:
        parts: list[Text | Thinking | ToolCall] = []
        taken: set[str] = set()
        for part in message.content:
            if isinstance(part, ToolCall):
                part = self._repaired_call(part, taken, repairs)
                taken.add(part.id)
            elif isinstance(part, Text) and not part.text.strip():
                repairs.append(Repair(RepairKind.EMPTY_PART, detail="assistant"))
                continue
            parts.append(part)
        unchanged = len(parts) == len(message.content) and all(
            new is old for new, old in zip(parts, message.content, strict=True)
        )
        return message if unchanged else replace(message, content=tuple(parts), encoded={})

    def _repaired_call(self, call: ToolCall, taken: set[str], repairs: list[Repair]) -> ToolCall:
        name, call_id = call.name, call.id
        if not TOOL_NAME.fullmatch(name):
            name = _NOT_IN_NAME.sub("_", name)[:_LONGEST_NAME] or "unnamed"
            repairs.append(Repair(RepairKind.INVALID_TOOL_NAME, call_id, call.name[:200]))
        if fault := self._id_fault(call_id, taken):
            stem = call_id.strip() if fault is RepairKind.DUPLICATE_CALL_ID else "call"
            call_id = self._new_id(stem, taken)
            repairs.append(Repair(fault, call_id, call.id[:200]))
        if name == call.name and call_id == call.id:
            return call
        return replace(call, id=call_id, name=name)

    def _id_fault(self, call_id: str, taken: set[str]) -> RepairKind | None:
        if not call_id.strip():
            return RepairKind.MISSING_CALL_ID
        if not usable_call_id(call_id):
            return RepairKind.INVALID_CALL_ID
        known = call_id in self._ids or call_id in taken
        return RepairKind.DUPLICATE_CALL_ID if known else None

    def _new_id(self, stem: str, taken: set[str]) -> str:
        # From the count of known ids, so that a provider that always says `call_0` costs no scan.
        number = len(self._ids) + len(taken) + 1
        while (candidate := f"{stem[:48]}-{number}") in self._ids or candidate in taken:
            number += 1
        return candidate

    def _unanswered_tail(self) -> dict[str, ToolCall]:
        answered: set[str] = set()
        for message in reversed(self._messages):
            if isinstance(message, ToolResultMessage):
                answered.add(message.call_id)
                continue
            if isinstance(message, AssistantMessage):
                return {call.id: call for call in message.tool_calls if call.id not in answered}
            break
        return {}


def _kept(
    parts: Sequence[Text | Image], repairs: list[Repair], where: str = ""
) -> Iterable[Text | Image]:
    for part in parts:
        if isinstance(part, Text) and not part.text.strip():
            repairs.append(Repair(RepairKind.EMPTY_PART, where))
        else:
            yield part
