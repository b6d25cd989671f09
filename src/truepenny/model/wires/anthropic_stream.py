"""Answers of the Anthropic Messages API: named events around numbered content blocks."""

from __future__ import annotations

from typing import Any

from truepenny.model.decoder import Decoder
from truepenny.model.json_value import count, encode, mapping, text
from truepenny.model.message import StopReason
from truepenny.model.refusal import refusal_of
from truepenny.model.usage import Usage

_STOPS = {
    "end_turn": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.END_TURN,
}


class AnthropicMessagesDecoder(Decoder):
    """See `Decoder`."""

    _usage = Usage()
    _thinking: int | None = None
    """The number of the thinking block that is open."""

    def _event(self, name: str, data: dict[str, Any]) -> None:
        match text(data.get("type")) or name:
            case "content_block_delta":
                self._delta(count(data.get("index")), mapping(data.get("delta")))
            case "content_block_start":
                self._start(count(data.get("index")), mapping(data.get("content_block")))
            case "content_block_stop":
                index = count(data.get("index"))
                if not self._message.has(index):
                    self._message.quirk("unknown_event", f"stop of block {index}, never begun")
                self._message.end_call(index)
                self._end_thinking()
            case "message_start":
                message = mapping(data.get("message"))
                if self._message.response_id:
                    self._message.quirk("duplicate_delta", "message_start came again")
                self._message.response_id = text(message.get("id"))
                self._message.model = text(message.get("model"))
                self._count(mapping(message.get("usage")))
            case "message_delta":
                self._count(mapping(data.get("usage")))
                self._stopped(mapping(data.get("delta")).get("stop_reason"))
            case "message_stop":
                self._end_thinking()
                self._complete(self._stop or StopReason.END_TURN)
            case "error":
                self._fail(refusal_of(200, data))
            case "ping":
                pass
            case other:
                self._message.quirk("unknown_event", other or "an event without a type")

    def _eof(self) -> None:
        # Some gateways close after the stop reason and leave out message_stop.
        if self._stop is not None:
            self._end_thinking()
            self._complete(self._stop)
        else:
            self._cut()

    def _stopped(self, reason: Any) -> None:
        if reason is None:
            return
        known = _STOPS.get(text(reason))
        if known is None:
            self._message.quirk("unknown_event", f"stop_reason {reason!r}")
        self._stop = known or StopReason.END_TURN

    def _start(self, index: int | None, block: dict[str, Any]) -> None:
        if self._message.has(index):
            self._message.quirk("duplicate_delta", f"block {index} began again")
            return
        match text(block.get("type")):
            case "text":
                self._message.text(index, text(block.get("text")))
            case "tool_use":
                self._message.call(index, text(block.get("id")), text(block.get("name")))
                # Without deltas the arguments stand here, mostly as an empty object.
                given = mapping(block.get("input"))
                if given:
                    self._message.arguments(index, encode(given).decode("utf-8"))
            case "thinking":
                self._thinking = index
                self._message.thinking(index, text(block.get("thinking")), **block)
            case "redacted_thinking":
                self._message.thinking(index, "", **block)
            case other:
                self._message.quirk("unknown_event", f"content block {other or 'without a type'}")

    def _delta(self, index: int | None, delta: dict[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._message.text(index, text(delta.get("text")))
            case "input_json_delta":
                self._message.arguments(index, text(delta.get("partial_json")))
            case "thinking_delta":
                self._message.thinking(index, text(delta.get("thinking")))
            case "signature_delta":
                self._message.thinking(index, "", signature=text(delta.get("signature")))
            case other:
                self._message.quirk("unknown_event", f"delta {other}")

    def _end_thinking(self) -> None:
        """The signature covers the text, so the block that goes back is completed with it."""
        if self._thinking is not None:
            whole = self._message.written(self._thinking)
            self._message.thinking(self._thinking, "", type="thinking", thinking=whole)
            self._thinking = None

    def _count(self, usage: dict[str, Any]) -> None:
        """Take over counts; those in `message_delta` are totals that replace earlier ones."""
        if not usage:
            return
        seen = self._usage
        details = mapping(usage.get("output_tokens_details"))

        def newest(name: str, old: int | None) -> int | None:
            new = count(usage.get(name))
            return old if new is None else new

        reasoning = count(details.get("thinking_tokens"))
        self._usage = self._message.usage = Usage(
            input_tokens=newest("input_tokens", seen.input_tokens),
            output_tokens=newest("output_tokens", seen.output_tokens),
            cache_read_tokens=newest("cache_read_input_tokens", seen.cache_read_tokens),
            cache_write_tokens=newest("cache_creation_input_tokens", seen.cache_write_tokens),
            reasoning_tokens=seen.reasoning_tokens if reasoning is None else reasoning,
        )
