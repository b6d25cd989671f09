"""Answers of the Chat Completions API: unnamed chunks with deltas, then `[DONE]`.

Servers differ in where they put reasoning and whether calls carry an index or an id; what they
add beside the standard fields is kept and sent back unread.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from truepenny.model.decoder import Decoder
from truepenny.model.failure import FailureKind
from truepenny.model.json_value import count, decode, encode, mapping, sequence, text
from truepenny.model.message import StopReason
from truepenny.model.refusal import Refusal, refusal_of
from truepenny.model.usage import Cost, Usage

_STOPS = {
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    "sensitive": StopReason.REFUSAL,
}

_FAULTS = {
    "error": FailureKind.SERVER_ERROR,
    "network_error": FailureKind.SERVER_ERROR,
    "insufficient_system_resource": FailureKind.OVERLOADED,
}
"""Finish reasons by which a server reports its own fault."""

_REASONING = ("reasoning_content", "reasoning")
"""The fields where servers put reasoning text; the one that was used is the one sent back."""

_CALL_FIELDS = frozenset({"index", "id", "type", "function"})

_TEXT = "text"
_THINKING = "thinking"


class OpenAIChatDecoder(Decoder):
    """See `Decoder`."""

    def __init__(self, *args: Any, **parts: Any) -> None:
        super().__init__(*args, **parts)
        self._calls: dict[Hashable, str] = {}
        """Keys of the calls in order, each with the id that the server gave."""
        self._names: dict[Hashable, str] = {}
        self._at: dict[int, Hashable] = {}
        """The call that each index means now."""
        self._nameless: dict[Hashable, str] = {}
        """Argument text of calls whose name has not come yet."""
        self._reasoning = ""
        self._details: list[Any] = []
        self._refused = False

    def _sentinel(self, data: bytes) -> bool:
        if data.strip() != b"[DONE]":
            return False
        spoken = StopReason.REFUSAL if self._refused else StopReason.END_TURN
        self._end(self._stop or spoken)
        return True

    def _eof(self) -> None:
        if self._stop is not None:
            self._end(self._stop)
        else:
            self._cut()

    def _event(self, name: str, data: dict[str, Any]) -> None:
        if data.get("error") or name == "error" or data.get("object") == "error":
            self._fail(refusal_of(200, data))
            return
        if not self._message.response_id:
            self._message.response_id = text(data.get("id"))
        if not self._message.model:
            self._message.model = text(data.get("model"))
        if data.get("usage"):
            self._message.usage = self._count(mapping(data["usage"]))
        choices = sequence(data.get("choices"))
        if choices:
            choice = mapping(choices[0])
            # Some servers send the whole message at the end; it counts only if no delta came.
            delta = mapping(choice.get("delta"))
            if not delta and not self._message.has(_TEXT) and not self._calls:
                delta = mapping(choice.get("message"))
            self._delta(delta)
            reason = choice.get("finish_reason")
            if reason:
                self._stopped(text(reason), choice)
        elif "choices" not in data and "usage" not in data:
            self._message.quirk("unknown_event", f"a chunk of {', '.join(sorted(data))}")

    def _stopped(self, reason: str, choice: dict[str, Any]) -> None:
        fault = _FAULTS.get(reason)
        if fault is not None:
            said = text(mapping(choice.get("error")).get("message"))
            self._fail(Refusal(200, said or f"finish_reason {reason}"), fault)
            return
        known = _STOPS.get(reason)
        if known is None:
            self._message.quirk("unknown_event", f"finish_reason {reason!r}")
        self._stop = known or StopReason.END_TURN
        if self._refused and self._stop is StopReason.END_TURN:
            self._stop = StopReason.REFUSAL

    def _delta(self, delta: dict[str, Any]) -> None:
        for field in _REASONING:
            fragment = text(delta.get(field))
            if fragment:
                self._reasoning = self._reasoning or field
                # Some gateways send the same words in both fields.
                if field == self._reasoning:
                    self._message.thinking(_THINKING, fragment)
        details = sequence(delta.get("reasoning_details"))
        if details:
            self._details += details
            self._message.thinking(_THINKING, "")
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._message.text(_TEXT, content)
        else:
            self._parts(sequence(content))
        refusal = text(delta.get("refusal"))
        if refusal:
            self._message.text(_TEXT, refusal)
            self._refused = True
        extra = delta.get("extra_content")
        if extra:
            self._message.thinking(_THINKING, "", extra_content=extra)
        for call in sequence(delta.get("tool_calls")):
            self._call(mapping(call))

    def _parts(self, content: list[Any]) -> None:
        """Content as a list of typed parts (Mistral)."""
        for item in content:
            part = mapping(item)
            match part.get("type"):
                case "text":
                    self._message.text(_TEXT, text(part.get("text")))
                case "thinking":
                    inner = sequence(part.get("thinking"))
                    words = "".join(text(mapping(piece).get("text")) for piece in inner)
                    self._message.thinking(_THINKING, words)
                case other:
                    self._message.quirk("unknown_event", f"content part {other}")

    def _call(self, call: dict[str, Any]) -> None:
        function = mapping(call.get("function"))
        call_id, name = text(call.get("id")), text(function.get("name"))
        given = function.get("arguments")
        fragment = encode(given).decode("utf-8") if isinstance(given, dict) else text(given)
        key = self._key(call.get("index"), call_id, name, fragment)
        self._calls[key] = self._calls.get(key) or call_id
        if not self._message.has(key):
            if not name:
                # The name comes later; nothing can be announced before it.
                self._nameless[key] = self._nameless.get(key, "") + fragment
                return
            self._message.call(key, self._calls[key], name)
            self._names[key] = name
            fragment = self._nameless.pop(key, "") + fragment
        self._message.arguments(key, fragment)
        fields = {field: call[field] for field in call.keys() - _CALL_FIELDS}
        if fields:
            self._message.call_opaque(key, fields)

    def _key(self, index: Any, call_id: str, name: str, fragment: str) -> Hashable:
        """Find the call that a fragment belongs to: by index, else by id, else the last one."""
        if isinstance(index, int):
            key = self._at.get(index)
            known = self._calls.get(key, "")
            # Gateways that number all calls 0 still give each its own id and name.
            if key is None or (name and call_id and known and known != call_id):
                key = self._at[index] = (index, call_id)
            elif name and not call_id and self._begins_another(key, name, fragment):
                key = self._at[index] = (index, len(self._calls))
            return key
        last = next(reversed(self._calls), None)
        if call_id:
            for key, known in self._calls.items():
                if known == call_id and not (name and self._complete_text(key)):
                    return key
        elif not name and last is not None:
            return last
        return ("call", len(self._calls))

    def _begins_another(self, key: Hashable, name: str, fragment: str) -> bool:
        """Whether a fragment without an id is the next call under an index that was used: it has a
        name, and nothing can follow the call's arguments. The same once more is a repetition."""
        written = self._message.written(key)
        if (name, fragment) == (self._names.get(key), written) or not fragment.startswith("{"):
            return False
        try:
            return isinstance(decode(written), dict)
        except ValueError:
            return False

    def _complete_text(self, key: Hashable) -> bool:
        """Whether a call's arguments are already closed, so that the same id begins another."""
        return self._message.written(key).rstrip().endswith("}")

    def _end(self, stop: StopReason) -> None:
        for key, fragment in self._nameless.items():
            self._message.call(key, self._calls[key], "")
            self._message.arguments(key, fragment)
        if self._reasoning:
            whole = self._message.written(_THINKING)
            self._message.thinking(_THINKING, "", **{self._reasoning: whole})
        if self._details:
            self._message.thinking(_THINKING, "", reasoning_details=self._details)
        self._complete(stop)

    def _count(self, usage: dict[str, Any]) -> Usage:
        """Cached tokens are part of `prompt_tokens` here; take them out once."""
        details = mapping(usage.get("prompt_tokens_details"))
        read = count(details.get("cached_tokens"))
        if read is None:
            read = count(usage.get("prompt_cache_hit_tokens"))
        write = count(details.get("cache_write_tokens"))
        prompt = count(usage.get("prompt_tokens"))
        if prompt is not None:
            prompt = max(prompt - (read or 0) - (write or 0), 0)
        cost = usage.get("cost")
        charged = self._profile.reports_cost and isinstance(cost, int | float)
        return Usage(
            input_tokens=prompt,
            output_tokens=count(usage.get("completion_tokens")),
            cache_read_tokens=read,
            cache_write_tokens=write,
            reasoning_tokens=count(
                mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")
            ),
            cost=Cost(float(cost), "USD", "api") if charged and cost is not None else None,
        )
