"""Answers of the Responses API: typed, numbered events around output items.

Each item is repeated whole when it is done, and that copy is the one that counts: a stream whose
deltas were doubled or lost on the way still gives the right message, with a quirk saying so.
"""

from __future__ import annotations

from typing import Any

from truepenny.model.decoder import Decoder
from truepenny.model.failure import FailureKind
from truepenny.model.json_value import count, mapping, sequence, text
from truepenny.model.message import StopReason
from truepenny.model.refusal import refusal_of
from truepenny.model.usage import Usage

_SILENT = frozenset(
    {
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.annotation.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.done",
        "response.function_call_arguments.done",
        "keepalive",
    }
)
"""Events that say nothing which another event does not say too."""

_INCOMPLETE = {
    "max_output_tokens": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}


class OpenAIResponsesDecoder(Decoder):
    """See `Decoder`."""

    _sequence = -1
    _refused = False

    def _event(self, name: str, data: dict[str, Any]) -> None:
        kind = text(data.get("type")) or name
        number = data.get("sequence_number")
        if isinstance(number, int):
            if number <= self._sequence:
                self._message.quirk("duplicate_delta", f"{kind} {number} came again")
                return
            self._sequence = number
        index = count(data.get("output_index"))
        match kind:
            case "response.output_text.delta":
                self._message.text(self._text_key(data), text(data.get("delta")))
            case "response.output_text.done":
                self._text_done(self._text_key(data), text(data.get("text")))
            case "response.refusal.delta":
                self._refused = True
                self._message.text(self._text_key(data), text(data.get("delta")))
            case "response.refusal.done":
                self._refused = True
                self._text_done(self._text_key(data), text(data.get("refusal")))
            case "response.function_call_arguments.delta":
                self._message.arguments(index, text(data.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._message.thinking(index, text(data.get("delta")))
            case "response.output_item.added":
                self._added(index, mapping(data.get("item")))
            case "response.output_item.done":
                self._done(index, mapping(data.get("item")))
            case "response.completed" | "response.incomplete" | "response.failed":
                self._ended(kind, mapping(data.get("response")))
            case "error":
                self._fail(refusal_of(200, data))
            case other if other not in _SILENT:
                self._message.quirk("unknown_event", other or "an event without a type")
            case _:
                pass

    def _eof(self) -> None:
        self._cut()

    @staticmethod
    def _text_key(data: dict[str, Any]) -> object:
        return (count(data.get("output_index")), count(data.get("content_index")))

    def _text_done(self, key: object, whole: str) -> None:
        written = self._message.written(key)
        if written == whole:
            return
        if not written:
            self._message.text(key, whole)
        else:
            self._message.quirk("duplicate_delta", "the final text differs from its deltas")
            self._message.replace_text(key, whole)

    def _added(self, index: int | None, item: dict[str, Any]) -> None:
        match item.get("type"):
            case "function_call":
                if not self._message.has(index):
                    call_id = text(item.get("call_id"))
                    self._message.call(index, call_id, text(item.get("name")))
                    self._message.arguments(index, text(item.get("arguments")))
            case "reasoning":
                self._message.thinking(index, "")
            case "message":
                pass
            case other:
                self._message.quirk("unknown_event", f"output item {other}")

    def _done(self, index: int | None, item: dict[str, Any]) -> None:
        match item.get("type"):
            case "function_call":
                self._added(index, {**item, "arguments": ""})
                if item.get("id"):
                    self._message.call_opaque(index, {"id": item["id"]})
                whole = item.get("arguments")
                self._message.end_call(index, whole if isinstance(whole, str) else None)
            case "reasoning":
                # `status` is an output field that the input side refuses.
                kept = {name: value for name, value in item.items() if name != "status"}
                self._message.thinking(index, "", **kept)
            case "message":
                for position, part in enumerate(sequence(item.get("content"))):
                    content = mapping(part)
                    whole = text(content.get("text")) or text(content.get("refusal"))
                    self._text_done((index, position), whole)
            case _:
                pass

    def _ended(self, kind: str, response: dict[str, Any]) -> None:
        self._message.response_id = text(response.get("id"))
        self._message.model = text(response.get("model"))
        usage = mapping(response.get("usage"))
        if usage:
            self._message.usage = _count(usage)
        if kind == "response.failed":
            refusal = refusal_of(200, {"error": response.get("error") or {}})
            self._fail(refusal, None if refusal.message else FailureKind.SERVER_ERROR)
            return
        # Items that the stream lost on the way stand in the final response.
        for index, item in enumerate(sequence(response.get("output"))):
            self._done(index, mapping(item))
        stop = StopReason.REFUSAL if self._refused else StopReason.END_TURN
        if kind == "response.incomplete":
            reason = text(mapping(response.get("incomplete_details")).get("reason"))
            known = _INCOMPLETE.get(reason)
            if known is None:
                self._message.quirk("unknown_event", f"incomplete because of {reason!r}")
            stop = known or StopReason.MAX_TOKENS
        self._complete(stop)


def _count(usage: dict[str, Any]) -> Usage:
    """Cached tokens are part of `input_tokens` here; take them out once."""
    read = count(mapping(usage.get("input_tokens_details")).get("cached_tokens"))
    total = count(usage.get("input_tokens"))
    return Usage(
        input_tokens=None if total is None else max(total - (read or 0), 0),
        output_tokens=count(usage.get("output_tokens")),
        cache_read_tokens=read,
        reasoning_tokens=count(mapping(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
