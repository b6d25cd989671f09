"""What servers that speak a protocol nearly right send, read for what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.asking import decode, failure_of, message_of, streamed_text
from tests.peers.model_frames import data, named
from truepenny.model.event import ModelEvent
from truepenny.model.failure import FailureKind
from truepenny.model.message import StopReason, Text, Thinking
from truepenny.model.usage import Usage


def chat(*deltas: dict[str, Any], finish: str = "stop") -> list[ModelEvent]:
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    end = {"choices": [{"delta": {}, "finish_reason": finish}]}
    return decode("openai_chat", b"".join(data(chunk) for chunk in [*chunks, end]))


def called(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{**fields, "function": {"name": name, "arguments": arguments}}]}


def test_calls_without_an_index_are_told_apart_by_id() -> None:
    events = chat(
        called("echo", '{"n":', id="a"),
        called("", "1}", id="a"),
        called("echo", '{"n":2}', id="b"),
    )
    assert [(c.id, c.arguments) for c in message_of(events).tool_calls] == [
        ("a", {"n": 1}),
        ("b", {"n": 2}),
    ]


def test_calls_that_all_have_index_zero_are_told_apart_by_id() -> None:
    events = chat(
        called("echo", "", id="a", index=0),
        called("", '{"n":1}', index=0),
        called("echo", '{"n":', id="b", index=0),
        called("", "2}", index=0),
    )
    assert [(c.id, c.arguments) for c in message_of(events).tool_calls] == [
        ("a", {"n": 1}),
        ("b", {"n": 2}),
    ]


def test_a_name_that_comes_late_and_arguments_as_an_object_are_understood() -> None:
    late = chat(called("", '{"n":', id="a", index=0), called("echo", "1}", index=0))
    assert [(c.name, c.arguments) for c in message_of(late).tool_calls] == [("echo", {"n": 1})]
    whole = chat(called("echo", {"n": 1}, id="a", index=0))
    assert message_of(whole).tool_calls[0].arguments == {"n": 1}


def test_a_stop_with_calls_is_tool_use() -> None:
    message = message_of(chat(called("echo", "{}", id="a", index=0), finish="stop"))
    assert message.stop is StopReason.TOOL_USE


def test_a_message_in_place_of_deltas_is_read() -> None:
    whole = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert message_of(decode("openai_chat", data(whole))).text == "hi"


def test_typed_parts_and_both_reasoning_fields_are_read() -> None:
    events = chat(
        {"reasoning": "a", "reasoning_content": "a"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}]},
        {"content": [{"type": "text", "text": "hi"}]},
    )
    thinking, text = message_of(events).content
    assert isinstance(thinking, Thinking) and thinking.text == "ab" and text == Text("hi")


def test_an_emoji_cut_in_two_is_put_together() -> None:
    stream = b"".join(
        b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % half
        for half in (rb"a \ud83d", rb"\ude00 b", rb"\ud83d")
    )
    events = decode("openai_chat", stream + b"data: [DONE]\n\n")
    assert message_of(events).text == "a 😀 b\\ud83d"
    assert "\ud83d" not in streamed_text(events)


def test_cached_tokens_in_another_field_are_taken_out_too() -> None:
    usage = {"prompt_tokens": 100, "prompt_cache_hit_tokens": 60, "completion_tokens": 5}
    stream = data({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})
    message = message_of(decode("openai_chat", stream + data({"choices": [], "usage": usage})))
    assert message.usage == Usage(input_tokens=40, output_tokens=5, cache_read_tokens=60)


def test_a_call_given_whole_in_its_block_start_is_read() -> None:
    block = {"type": "tool_use", "id": "a", "name": "echo", "input": {"n": 1}}
    stream = b"".join(
        map(
            named,
            [
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
                {"type": "message_stop"},
            ],
        )
    )
    assert message_of(decode("anthropic_messages", stream)).tool_calls[0].arguments == {"n": 1}


def test_calls_without_an_id_under_one_index_are_told_apart() -> None:
    both = [
        *called("a", "{}", id="", index=0)["tool_calls"],
        *called("b", "{}", index=0)["tool_calls"],
    ]
    assert [c.name for c in message_of(chat({"tool_calls": both})).tool_calls] == ["a", "b"]
    same = chat(called("a", '{"n":1}', index=0), called("a", '{"n":2}', index=0))
    assert [c.arguments for c in message_of(same).tool_calls] == [{"n": 1}, {"n": 2}]
    # A name on every fragment begins nothing, and a repetition is one call.
    pieces = chat(called("a", '{"s":"}', index=0), called("a", '{"}', index=0))
    assert [c.arguments for c in message_of(pieces).tool_calls] == [{"s": "}{"}]
    again = chat(called("a", '{"n":1}', index=0), called("a", '{"n":1}', index=0))
    assert [c.arguments for c in message_of(again).tool_calls] == [{"n": 1}]


def test_a_refusal_stays_one_whatever_the_finish_reason() -> None:
    assert message_of(chat({"refusal": "No."}, finish="stop")).stop is StopReason.REFUSAL
    cut = decode("openai_chat", data({"choices": [{"delta": {"refusal": "N"}}]}))
    assert failure_of(cut).kind is FailureKind.NETWORK


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        (data({"error": {"code": 429, "message": "upstream"}}), FailureKind.RATE_LIMIT),
        (data({"error": {"code": 402, "message": "upstream"}}), FailureKind.BILLING),
        (data({"error": {"code": 503, "message": "upstream"}}), FailureKind.OVERLOADED),
        (data({"object": "error", "message": "no", "code": 400}), FailureKind.FORMAT_ERROR),
        (b'{"error":{"message":"no","code":"insufficient_quota"}}', FailureKind.BILLING),
        (b'error: {"code":401,"message":"no"}\n\n', FailureKind.AUTH),
    ],
)
def test_an_error_in_a_stream_has_the_kind_it_names(stream: bytes, kind: FailureKind) -> None:
    assert failure_of(decode("openai_chat", stream)).kind is kind


@pytest.mark.parametrize("field", ["key", "fragment", "self"])
def test_any_field_of_a_reasoning_block_is_kept(field: str) -> None:
    item = {"type": "reasoning", "encrypted_content": "x", field: 1}
    text = {"type": "message", "content": [{"type": "output_text", "text": "hi"}]}
    done = {"type": "response.completed", "response": {"output": [item, text]}}
    thinking = message_of(decode("openai_responses", named(done))).content[0]
    assert isinstance(thinking, Thinking) and thinking.opaque == item
    block = {"type": "thinking", "thinking": "a", "signature": "s", field: 1}
    stream = b"".join(
        map(
            named,
            [
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_stop", "index": 0},
                {
                    "type": "content_block_start",
                    "index": 1,
                    "content_block": {"type": "text", "text": "hi"},
                },
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                {"type": "message_stop"},
            ],
        )
    )
    thinking = message_of(decode("anthropic_messages", stream)).content[0]
    assert isinstance(thinking, Thinking) and thinking.opaque == block


def test_no_half_of_a_pair_leaves_a_stream() -> None:
    stream = (
        rb'data: {"id":"\ud800","model":"\ud800","choices":[{"delta":{"tool_calls":[{"id":"\ud800",'
        rb'"function":{"name":"echo","arguments":"{\"n\":\"\\ud800\"}"}}]},"finish_reason":"stop"}]}'
        b"\n\n"
    )
    message = message_of(decode("openai_chat", stream))
    [call] = message.tool_calls
    assert call.arguments is not None
    for text in (message.model, message.response_id, call.id, str(call.arguments["n"])):
        text.encode("utf-8")
