"""A message under construction: what a wire's decoder hears, put together and checked.

All three wires build through this, so a fault in a provider's stream (bad arguments, a missing or
repeated call id, an impossible tool name, an answer without content) has one treatment and one
visible event, whatever the protocol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from truepenny.system.ids import Ids

from .event import (
    ModelEvent,
    Quirk,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from .json_value import decode, mend, visible
from .message import AssistantMessage, StopReason, Text, Thinking, ToolCall
from .usage import Usage

MAX_NAME = 64
"""Characters of a tool name that every provider takes (spec/diagnostics.md 8)."""

MAX_DETAIL = 200
"""Characters of a provider's text that a quirk quotes."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")


_HALF_PAIR = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


@dataclass(slots=True)
class _Part:
    """`held` is the first half of a surrogate pair whose second half has not come yet."""

    fragments: list[str] = field(default_factory=list[str])
    held: str = ""

    def take(self, fragment: str) -> str:
        """Add a fragment and return what of it can be shown now."""
        if self.held:
            fragment, self.held = self.held + fragment, ""
        if not fragment.isascii() and _HALF_PAIR.search(fragment):
            if "\ud800" <= fragment[-1] <= "\udbff":
                self.held, fragment = fragment[-1], fragment[:-1]
            fragment = mend(fragment)
        if fragment:
            self.fragments.append(fragment)
        return fragment

    def whole(self) -> str:
        """Return all of it."""
        return "".join(self.fragments) + mend(self.held)


@dataclass(slots=True)
class _Prose(_Part):
    pass


@dataclass(slots=True)
class _Thought(_Part):
    opaque: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True, kw_only=True)
class _Call(_Part):
    id: str
    name: str
    problem: str
    opaque: dict[str, Any] = field(default_factory=dict[str, Any])
    done: ToolCall | None = None


class Assembly:
    """Parts in the order they first appeared, each under a key that the wire chooses.

    `origin` names the wire and provider that opaque fields belong to. `taken` gives the call ids
    that the conversation already uses; it is asked once, when the first call arrives. Events are
    appended to `events`, which the decoder takes away.
    """

    def __init__(self, origin: str, ids: Ids, taken: Callable[[], set[str]]) -> None:
        self.events: list[ModelEvent] = []
        self.model = ""
        self.response_id = ""
        self.usage: Usage | None = None
        self._origin = origin
        self._ids = ids
        self._taken = taken
        self._used: set[str] | None = None
        self._parts: dict[Hashable, _Part] = {}

    def quirk(self, kind: str, detail: str) -> None:
        """Report a fault that was dealt with."""
        detail = mend(detail)
        cut = detail if len(detail) <= MAX_DETAIL else f"{detail[:MAX_DETAIL]}… ({len(detail)})"
        self.events.append(Quirk(kind, cut))

    def has(self, key: Hashable) -> bool:
        """Whether a part was begun under the key."""
        return key in self._parts

    def text(self, key: Hashable, fragment: str) -> None:
        """Add to a text part, beginning it if it is new."""
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _Prose()
        if not isinstance(part, _Prose):
            self._misplaced("text", fragment)
        elif fragment:
            shown = part.take(fragment)
            if shown:
                self.events.append(TextDelta(shown))

    def thinking(self, key: Hashable, fragment: str, /, **opaque: Any) -> None:
        """Add to a thinking part; `opaque` fields replace earlier ones of the same name."""
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _Thought()
        if not isinstance(part, _Thought):
            self._misplaced("thinking", fragment)
        else:
            part.opaque.update(opaque)
            shown = part.take(fragment) if fragment else ""
            if shown:
                self.events.append(ThinkingDelta(shown))

    def written(self, key: Hashable) -> str:
        """Return what a part holds so far: its text, or a call's argument text."""
        part = self._parts.get(key)
        return part.whole() if part is not None else ""

    def replace_text(self, key: Hashable, whole: str) -> None:
        """Put the provider's own final text in place of what its deltas added up to."""
        part = self._parts.get(key)
        if isinstance(part, _Prose):
            part.fragments = [mend(whole)]
            part.held = ""

    def call(self, key: Hashable, id: str, name: str) -> None:
        """Begin a call. Empty or used ids get a new one; a bad name makes the call unusable."""
        call_id = self._unique(id)
        problem = ""
        clean = name
        if not _NAME.fullmatch(name):
            clean = name.strip()
            usable = _NAME.fullmatch(clean) is not None
            self.quirk("invalid_tool_name", repr(name))
            if not usable:
                problem = f"{clean[:MAX_NAME]!r} is not a tool name"
                clean = _NOT_NAME.sub("_", clean)[:MAX_NAME] or "unnamed"
        self._parts[key] = _Call(id=call_id, name=clean, problem=problem)
        self.events.append(ToolCallStart(call_id, clean))

    def arguments(self, key: Hashable, fragment: str) -> None:
        """Add to a call's argument text."""
        part = self._parts.get(key)
        if not isinstance(part, _Call) or part.done is not None:
            self._misplaced("arguments", fragment)
        elif fragment:
            shown = part.take(fragment)
            if shown:
                self.events.append(ToolCallDelta(part.id, shown))

    def call_opaque(self, key: Hashable, fields: Mapping[str, Any]) -> None:
        """Keep provider fields that must come back with the call."""
        part = self._parts.get(key)
        if isinstance(part, _Call):
            part.opaque.update(fields)

    def end_call(self, key: Hashable, whole: str | None = None) -> None:
        """The provider says that the call is complete; `whole` is its own copy of the arguments.

        Arguments that cannot be read wait for `finish`: only then is it known whether the answer
        was cut off at its output limit.
        """
        part = self._parts.get(key)
        if not isinstance(part, _Call) or part.done is not None:
            return
        if whole is not None and whole != part.whole():
            if part.fragments:
                self.quirk("duplicate_delta", f"arguments of {part.name}: final text differs")
            part.fragments, part.held = [mend(whole)], ""
        self._close(part, cut=None)

    def finish(self, stop: StopReason) -> AssistantMessage:
        """Close what is open and return the message. Calls decide the stop reason over its word,
        because some servers say `stop` with calls in hand."""
        for part in self._parts.values():
            if isinstance(part, _Call) and part.done is None:
                self._close(part, cut=stop is StopReason.MAX_TOKENS)
        message = self._message(stop)
        if message.tool_calls and stop is StopReason.END_TURN:
            return self._message(StopReason.TOOL_USE)
        if not message.tool_calls and stop is StopReason.TOOL_USE:
            return self._message(StopReason.END_TURN)
        return message

    def partial(self) -> AssistantMessage | None:
        """Return what had arrived when the stream broke, None if that is nothing. Calls without
        their end are left out: they were never asked for in full."""
        message = self._message(StopReason.ABORTED)
        return message if message.content else None

    def _message(self, stop: StopReason) -> AssistantMessage:
        content: list[Text | Thinking | ToolCall] = []
        for part in self._parts.values():
            if isinstance(part, _Call):
                if part.done is not None:
                    content.append(part.done)
                continue
            words = part.whole()
            if isinstance(part, _Thought):
                if words or part.opaque:
                    content.append(Thinking(words, self._origin, part.opaque or None))
            elif words:
                content.append(Text(words))
        return AssistantMessage(
            tuple(content),
            stop,
            model=mend(self.model),
            usage=self.usage,
            response_id=mend(self.response_id),
        )

    def _misplaced(self, what: str, fragment: str) -> None:
        """Text for a part of another kind, or for a call that is not open: it has no place."""
        if fragment:
            self.quirk("unknown_event", f"{what} for no such part: {fragment}")

    def _unique(self, given: str) -> str:
        if self._used is None:
            self._used = self._taken()
        call_id = given = mend(given)
        if not given:
            call_id = self._ids.new("call")
            self.quirk("missing_call_id", call_id)
        elif given in self._used:
            call_id = self._ids.new("call")
            self.quirk("duplicate_call_id", f"{given} is now {call_id}")
        self._used.add(call_id)
        return call_id

    def _close(self, part: _Call, *, cut: bool | None) -> None:
        """Read the arguments. `cut` None: not known yet, so leave unreadable ones open."""
        raw = part.whole()
        arguments, fault = _read(raw)
        if arguments is None:
            once = _undoubled(raw)
            if once is not None:
                self.quirk("duplicate_delta", f"arguments of {part.name} came more than once")
                raw, (arguments, fault) = once, _read(once)
        if cut is None and (fault or not raw):
            return
        problem = part.problem
        if not problem and cut and (fault or not raw):
            problem = "the answer ended at its output limit before the arguments were complete"
        elif not problem and fault:
            problem = f"the arguments are not a JSON object: {fault}"
        if fault and not cut:
            self.quirk("malformed_arguments", f"{part.name}: {fault}")
        part.done = ToolCall(
            part.id,
            part.name,
            None if problem else arguments,
            raw=raw,
            problem=problem,
            opaque={self._origin: part.opaque} if part.opaque else None,
        )
        self.events.append(ToolCallEnd(part.done))


def _read(raw: str) -> tuple[dict[str, Any] | None, str]:
    """Return the arguments and no fault, or None and the fault. No text at all is no argument."""
    if not raw.strip():
        return {}, ""
    try:
        value = decode(raw)
    except ValueError as error:
        return None, str(error)
    if not isinstance(value, dict):
        return None, f"it is a {type(value).__name__}"
    # Half a surrogate pair fits into no file name, argument or request.
    return cast("dict[str, Any]", visible(value) if _ESCAPED_HALF.search(raw) else value), ""


def _undoubled(raw: str) -> str | None:
    """Return the one text that `raw` repeats exactly, if that is an object: some gateways send
    the whole arguments once more after their deltas."""
    for times in (2, 3):
        size, rest = divmod(len(raw), times)
        if size and not rest and raw == raw[:size] * times and _read(raw[:size])[0] is not None:
            return raw[:size] if raw[:size].strip() else None
    return None
