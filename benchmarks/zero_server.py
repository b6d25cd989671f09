"""A model server that costs almost nothing, so that a benchmark measures the client.

Chat Completions, streamed or not: the model's name says what to do. `turns-N` calls `add` until the
conversation holds N tool results and then answers with text; `final-answer-N` ends with a call of
`final_answer`, as smolagents wants it. On all three protocols `stream-N` answers with N deltas.
Prints its URL and serves until killed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

MODEL = re.compile(rb'"model"\s*:\s*"(turns|final-answer)-(\d+)"')
RESULT = re.compile(rb'"role"\s*:\s*"tool"|"text"\s*:\s*"Observation:')
DELTAS = re.compile(rb'"model"\s*:\s*"stream-(\d+)"')
STREAM = re.compile(rb'"stream"\s*:\s*true')


def answer(body: bytes) -> tuple[dict[str, Any], str]:
    """Return the assistant's message and the finish reason for a request body."""
    named = MODEL.search(body)
    kind, turns = (named[1], int(named[2])) if named else (b"turns", 1)
    done = len(RESULT.findall(body))
    if done < turns:
        return _call(done, "add", '{"a":1,"b":2}'), "tool_calls"
    if kind == b"final-answer":
        return _call(done, "final_answer", '{"answer":"3"}'), "tool_calls"
    return {"role": "assistant", "content": "done"}, "stop"


def _call(number: int, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def reply(body: bytes, path: bytes) -> bytes:
    """Return the whole HTTP response."""
    if length := DELTAS.search(body):
        return long_stream(path.rpartition(b"/")[2].decode(), int(length[1]))
    message, reason = answer(body)
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    base = {"id": "c1", "created": 1, "model": "m"}
    if not STREAM.search(body):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = base | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return _http("application/json", json.dumps(whole).encode())
    for index, call in enumerate(message.get("tool_calls", [])):
        call["index"] = index
    chunk = base | {"object": "chat.completion.chunk"}
    events = [
        chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        chunk | {"choices": [], "usage": usage},
    ]
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return _http("text/event-stream", b"".join([*lines, b"data: [DONE]\n\n"]))


@cache
def long_stream(protocol: str, deltas: int) -> bytes:
    """Return a response of many text deltas in the protocol of a path's last word."""
    events = {"completions": _chat, "messages": _messages, "responses": _responses}[protocol]
    lines = [
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
        for event in events(deltas)
    ]
    if protocol == "completions":
        lines.append("data: [DONE]\n\n")
    return _http("text/event-stream", "".join(lines).encode())


WORD = "some words "


def _chat(deltas: int) -> Iterator[dict[str, Any]]:
    base = {"id": "c1", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    for _ in range(deltas):
        choice = {"index": 0, "delta": {"content": WORD}, "finish_reason": None}
        yield base | {"choices": [choice]}
    yield base | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 1, "completion_tokens": deltas, "total_tokens": deltas + 1}
    yield base | {"choices": [], "usage": usage}


def _messages(deltas: int) -> Iterator[dict[str, Any]]:
    message = {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    yield {"type": "message_start", "message": message}
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "text_delta", "text": WORD}
    for _ in range(deltas):
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": deltas}}
    yield {"type": "message_stop"}


def _responses(deltas: int) -> Iterator[dict[str, Any]]:
    def response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        counts = {
            "input_tokens": 1, "output_tokens": deltas, "total_tokens": deltas + 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return {
            "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": status,
            "output": output, "usage": counts, "parallel_tool_calls": True, "tools": [],
            "tool_choice": "auto", "error": None, "incomplete_details": None,
            "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
        }  # fmt: skip

    number = itertools.count()

    def event(kind: str, **rest: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}", "sequence_number": next(number), **rest}

    place = {"item_id": "i1", "output_index": 0, "content_index": 0}
    item: dict[str, Any] = {"id": "i1", "type": "message", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    yield event("created", response=response("in_progress", []))
    started = item | {"status": "in_progress"}
    yield event("output_item.added", output_index=0, item=started)
    yield event("content_part.added", **place, part=part)
    for _ in range(deltas):
        yield event("output_text.delta", **place, delta=WORD, logprobs=[])
    whole = part | {"text": WORD * deltas}
    yield event("output_text.done", **place, text=WORD * deltas, logprobs=[])
    yield event("content_part.done", **place, part=whole)
    done = item | {"status": "completed", "content": [whole]}
    yield event("output_item.done", output_index=0, item=done)
    yield event("completed", response=response("completed", [done]))


def _http(kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(re.search(rb"content-length: *(\d+)", head)[1])  # type: ignore[index]
            path = head.split(b" ", 2)[1].partition(b"?")[0]
            writer.write(reply(await reader.readexactly(length), path))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serve on a free port of the loopback."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
