"""A reply as the server-sent events of each protocol, in the order and shape providers send."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .model_script import Call, Counts, Refuse, Reply

PROTOCOLS = ("anthropic_messages", "openai_chat", "openai_responses")
PATHS = {
    "/v1/messages": "anthropic_messages",
    "/v1/chat/completions": "openai_chat",
    "/v1/responses": "openai_responses",
}
DONE = b"data: [DONE]\n\n"


def frames(protocol: str, reply: Reply, body: Mapping[str, Any], turn: int) -> list[bytes]:
    """Return the events of an answer; `turn` numbers ids so that they never repeat."""
    rendered = _RENDER[protocol](reply, body, turn)
    return reply.edit(rendered) if reply.edit else rendered


def error_body(protocol: str, refuse: Refuse) -> bytes:
    """Return an error in the provider's own shape."""
    if refuse.body:
        return refuse.body
    if protocol == "anthropic_messages":
        kind = refuse.type or "invalid_request_error"
        error: dict[str, Any] = {"type": kind, "message": refuse.message}
        return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
    error = {
        "message": refuse.message,
        "type": refuse.type or "invalid_request_error",
        "param": refuse.param or None,
        "code": refuse.code or None,
    }
    return json.dumps({"error": error}).encode()


def data(value: Mapping[str, Any]) -> bytes:
    """One unnamed event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def named(value: Mapping[str, Any]) -> bytes:
    """One event named after its type."""
    return b"event: " + str(value["type"]).encode() + b"\n" + data(value)


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _id(call: Call, turn: int, number: int, prefix: str) -> str:
    return call.id or f"{prefix}{turn}_{number}"


def _messages(reply: Reply, body: Mapping[str, Any], turn: int) -> list[bytes]:
    counts = reply.counts
    start: dict[str, Any] = {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "m"),
        "content": [],
        "stop_reason": None,
    }
    if counts:
        start["usage"] = {
            "input_tokens": counts.input,
            "output_tokens": 1,
            "cache_read_input_tokens": counts.cached,
            "cache_creation_input_tokens": counts.written,
        }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "ping"},
    ]
    index = 0

    def block(begin: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
        nonlocal index
        events.append({"type": "content_block_start", "index": index, "content_block": begin})
        events.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        events.append({"type": "content_block_stop", "index": index})
        index += 1

    if reply.thinking:
        block(
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                *(
                    {"type": "thinking_delta", "thinking": piece}
                    for piece in _pieces(reply.thinking, reply.piece)
                ),
                {"type": "signature_delta", "signature": reply.signature},
            ],
        )
    if reply.text:
        block(
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": piece} for piece in _pieces(reply.text, reply.piece)],
        )
    for number, call in enumerate(reply.calls):
        call_id = "" if call.id == "missing" else _id(call, turn, number, "toolu_")
        block(
            {"type": "tool_use", "id": call_id, "name": call.name, "input": {}},
            [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in ["", *_pieces(call.json, reply.piece)]
            ],
        )
    end: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": reply.stop or ("tool_use" if reply.calls else "end_turn")},
    }
    if counts:
        end["usage"] = {"output_tokens": counts.output}
        if counts.reasoning:
            end["usage"]["output_tokens_details"] = {"thinking_tokens": counts.reasoning}
    return [named(event) for event in [*events, end, {"type": "message_stop"}]]


def _chat(reply: Reply, body: Mapping[str, Any], turn: int) -> list[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{turn}",
            "object": "chat.completion.chunk",
            "model": body.get("model", "m"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    events = [chunk({"role": "assistant", "content": ""})]
    for piece in _pieces(reply.thinking, reply.piece):
        events.append(chunk({"reasoning_content": piece}))
    for piece in _pieces(reply.text, reply.piece):
        events.append(chunk({"content": piece}))
    for number, call in enumerate(reply.calls):
        first: dict[str, Any] = {
            "index": number,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
            **call.extra,
        }
        if call.id != "missing":
            first["id"] = _id(call, turn, number, "call_")
        events.append(chunk({"tool_calls": [first]}))
        for piece in _pieces(call.json, reply.piece):
            more = {"index": number, "function": {"arguments": piece}}
            events.append(chunk({"tool_calls": [more]}))
    events.append(chunk({}, reply.stop or ("tool_calls" if reply.calls else "stop")))
    asked = (body.get("stream_options") or {}).get("include_usage")
    if reply.counts and asked:
        events.append({**chunk({}), "choices": [], "usage": _chat_usage(reply.counts)})
    return [*(data(event) for event in events), DONE]


def _chat_usage(counts: Counts) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "prompt_tokens": counts.input + counts.cached + counts.written,
        "completion_tokens": counts.output,
        "prompt_tokens_details": {
            "cached_tokens": counts.cached,
            "cache_write_tokens": counts.written,
        },
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    }
    if counts.cost is not None:
        usage["cost"] = counts.cost
    return usage


def _responses(reply: Reply, body: Mapping[str, Any], turn: int) -> list[bytes]:
    events: list[dict[str, Any]] = []
    output: list[dict[str, Any]] = []
    response = {"id": f"resp_{turn}", "model": body.get("model", "m"), "status": "in_progress"}
    events.append({"type": "response.created", "response": response})
    events.append({"type": "response.in_progress", "response": response})

    def item(begin: dict[str, Any], inner: list[dict[str, Any]], done: dict[str, Any]) -> None:
        index = len(output)
        events.append({"type": "response.output_item.added", "output_index": index, "item": begin})
        events.extend({**event, "output_index": index} for event in inner)
        events.append({"type": "response.output_item.done", "output_index": index, "item": done})
        output.append(done)

    if reply.thinking:
        begin = {"type": "reasoning", "id": f"rs_{turn}", "summary": []}
        summary = [{"type": "summary_text", "text": reply.thinking}]
        done = {**begin, "summary": summary, "encrypted_content": f"enc-{reply.signature}"}
        kind = "response.reasoning_summary_text.delta"
        item(
            begin,
            [
                {"type": kind, "summary_index": 0, "delta": piece}
                for piece in _pieces(reply.thinking, reply.piece)
            ],
            done,
        )
    if reply.text:
        base = {"type": "message", "id": f"msg_{turn}", "role": "assistant"}
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        item(
            {**base, "status": "in_progress", "content": []},
            [
                {"type": "response.content_part.added", "content_index": 0, "part": {}},
                *(
                    {"type": "response.output_text.delta", "content_index": 0, "delta": piece}
                    for piece in _pieces(reply.text, reply.piece)
                ),
                {"type": "response.output_text.done", "content_index": 0, "text": reply.text},
                {"type": "response.content_part.done", "content_index": 0, "part": part},
            ],
            {**base, "status": "completed", "content": [part]},
        )
    for number, call in enumerate(reply.calls):
        call_id = "" if call.id == "missing" else _id(call, turn, number, "call_")
        base = {
            "type": "function_call",
            "id": f"fc_{turn}_{number}",
            "call_id": call_id,
            "name": call.name,
        }
        item(
            {**base, "arguments": "", "status": "in_progress"},
            [
                *(
                    {"type": "response.function_call_arguments.delta", "delta": piece}
                    for piece in _pieces(call.json, reply.piece)
                ),
                {"type": "response.function_call_arguments.done", "arguments": call.json},
            ],
            {**base, "arguments": call.json, "status": "completed"},
        )
    final: dict[str, Any] = {**response, "status": reply.stop or "completed", "output": output}
    if reply.counts:
        final["usage"] = {
            "input_tokens": reply.counts.input + reply.counts.cached,
            "input_tokens_details": {"cached_tokens": reply.counts.cached},
            "output_tokens": reply.counts.output,
            "output_tokens_details": {"reasoning_tokens": reply.counts.reasoning},
        }
    if reply.stop == "incomplete":
        final["incomplete_details"] = {"reason": "max_output_tokens"}
    events.append({"type": f"response.{final['status']}", "response": final})
    return [named({**event, "sequence_number": number}) for number, event in enumerate(events)]


_RENDER: dict[str, Callable[[Reply, Mapping[str, Any], int], list[bytes]]] = {
    "anthropic_messages": _messages,
    "openai_chat": _chat,
    "openai_responses": _responses,
}
