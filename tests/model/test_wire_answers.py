"""What the three wires make of good answers, and of answers with faults in them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.asking import (
    WIRES,
    collect,
    decode,
    failed,
    failure_of,
    message_of,
    model,
    quirks,
    request,
    streamed_text,
)
from tests.peers.model_frames import data, frames, named
from tests.peers.model_script import Call, Counts, Reply, drop_last, insert, repeat
from tests.peers.model_server import ModelServer
from truepenny.model.event import (
    MessageEnd,
    ModelEvent,
    StreamFailed,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from truepenny.model.failure import FailureKind
from truepenny.model.message import (
    AssistantMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    user,
)
from truepenny.model.profile import Profile
from truepenny.model.usage import Cost

pytestmark = pytest.mark.anyio

every_wire = pytest.mark.parametrize("wire", WIRES)


async def ask(wire: str, *replies: Reply, profile: Profile | None = None) -> list[ModelEvent]:
    with ModelServer(replies) as server:
        return await collect(model(server, wire, profile))


FULL = Reply(
    text="Grüße 😀 and more of it",
    thinking="first, think",
    calls=(Call("echo", {"text": "ä"}), Call("list_pods", {"n": [1, 2]})),
    counts=Counts(input=100, output=20, cached=900, reasoning=7),
)


@every_wire
async def test_an_answer_with_everything(wire: str) -> None:
    events = await ask(wire, FULL)
    message = message_of(events)
    thinking, text, first, second = message.content
    assert isinstance(thinking, Thinking) and thinking.text == FULL.thinking and thinking.opaque
    assert text == Text(FULL.text) and streamed_text(events) == FULL.text
    assert isinstance(first, ToolCall) and isinstance(second, ToolCall)
    assert (first.name, first.arguments, first.problem) == ("echo", {"text": "ä"}, "")
    assert (second.name, second.arguments) == ("list_pods", {"n": [1, 2]})
    assert first.id != second.id
    assert message.stop is StopReason.TOOL_USE and message.model == "m" and message.response_id
    assert [event.call for event in events if isinstance(event, ToolCallEnd)] == [first, second]
    typed = "".join(event.json for event in events if isinstance(event, ToolCallDelta))
    assert typed == first.raw + second.raw
    assert quirks(events) == []


@every_wire
async def test_an_answer_in_single_bytes_over_the_network(wire: str) -> None:
    whole = message_of(await ask(wire, FULL))
    bytewise = message_of(await ask(wire, replace(FULL, split=1)))
    assert bytewise.content == whole.content


@every_wire
async def test_input_tokens_leave_out_the_cached_ones(wire: str) -> None:
    usage = message_of(await ask(wire, FULL)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (100, 900, 20)
    assert usage.reasoning_tokens == 7


@every_wire
async def test_unmeasured_is_unknown(wire: str) -> None:
    assert message_of(await ask(wire, Reply(text="hi", counts=None))).usage is None


async def test_a_charge_is_shown_only_where_the_provider_reports_one() -> None:
    reply = Reply(text="hi", counts=Counts(cost=0.25))
    charged = message_of(await ask("openai_chat", reply, profile=Profile("m", reports_cost=True)))
    assert charged.usage is not None and charged.usage.cost == Cost(0.25, "USD", "api")
    silent = message_of(await ask("openai_chat", reply))
    assert silent.usage is not None and silent.usage.cost is None


@every_wire
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data_=st.data())
def test_any_chunking_gives_the_same_message(wire: str, data_: st.DataObject) -> None:
    stream = b"".join(frames(wire, FULL, {"model": "m", "stream_options": {}}, 1))
    cuts = data_.draw(st.lists(st.integers(0, len(stream)), max_size=30))
    whole, parts = message_of(decode(wire, stream)), message_of(decode(wire, stream, *cuts))
    assert (parts.content, parts.stop, parts.usage) == (whole.content, whole.stop, whole.usage)


@every_wire
def test_byte_by_byte_gives_the_same_message(wire: str) -> None:
    stream = b"".join(frames(wire, FULL, {"model": "m"}, 1))
    whole = message_of(decode(wire, stream))
    parts = message_of(decode(wire, stream, *range(1, len(stream))))
    assert parts.content == whole.content


@every_wire
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(garbage=st.binary(max_size=60), at=st.integers(0, 4000))
def test_no_bytes_break_it(wire: str, garbage: bytes, at: int) -> None:
    stream = b"".join(frames(wire, FULL, {"model": "m"}, 1))
    events = decode(wire, stream[:at] + garbage + stream[at:])
    assert isinstance(events[-1], MessageEnd | StreamFailed)


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_SHAPES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def _paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    found = [here] if here else []
    for key in keys if isinstance(value, dict | list) else ():
        found += (
            _paths(value[key], (*here, key))
            if isinstance(value[key], dict | list)
            else [(*here, key)]
        )
    return found


@every_wire
@settings(max_examples=150, deadline=None)
@given(data_=st.data())
def test_a_field_of_any_other_shape_never_crashes(wire: str, data_: st.DataObject) -> None:
    events = frames(wire, FULL, {"model": "m", "stream_options": {"include_usage": True}}, 1)
    number = data_.draw(st.integers(0, len(events) - 1))
    head, _, payload = events[number].partition(b"data: ")
    if payload.startswith(b"{"):
        value = json.loads(payload)
        *way, last = data_.draw(st.sampled_from(_paths(value)))
        target = value
        for step in way:
            target = target[step]
        target[last] = data_.draw(_SHAPES)
        events[number] = head + b"data: " + json.dumps(value).encode() + b"\n\n"
    got = decode(wire, b"".join(events))
    if isinstance(failure := got[-1], StreamFailed):
        assert failure.failure.message
        return
    message = message_of(got)
    begun = [event.id for event in got if isinstance(event, ToolCallStart)]
    calls = [call.id for call in message.tool_calls]
    assert sorted(begun) == sorted(calls) and len(set(calls)) == len(calls)
    for other in WIRES:
        asked = model(ModelServer(), other)
        assert json.loads(asked.encode(request(user("a"), message), asked.profile))


# Calls


@every_wire
@pytest.mark.parametrize(
    "raw", ['{"text": ', "[1]", '"echo"', "{}x", '{"a": NaN}', "null", "{'a': 1}"]
)
async def test_arguments_that_are_no_object_make_an_unusable_call(wire: str, raw: str) -> None:
    events = await ask(wire, Reply(text="so", calls=(Call("echo", raw=raw),)))
    (call,) = message_of(events).tool_calls
    assert (call.arguments, call.raw) == (None, raw) and call.problem
    assert "malformed_arguments" in quirks(events)


@every_wire
async def test_no_argument_text_means_no_arguments(wire: str) -> None:
    events = await ask(wire, Reply(calls=(Call("echo", raw=""),)))
    (call,) = message_of(events).tool_calls
    assert (call.arguments, call.problem) == ({}, "") and quirks(events) == []


@every_wire
async def test_arguments_sent_twice_are_read_once(wire: str) -> None:
    events = await ask(wire, Reply(calls=(Call("echo", raw='{"a": 1}{"a": 1}'),)))
    (call,) = message_of(events).tool_calls
    assert (call.arguments, call.raw) == ({"a": 1}, '{"a": 1}')
    assert quirks(events) == ["duplicate_delta"]


@every_wire
async def test_a_missing_id_is_made(wire: str) -> None:
    calls = (Call("echo", {"n": 1}, id="missing"), Call("echo", {"n": 2}, id="missing"))
    events = await ask(wire, Reply(calls=calls))
    ids = [call.id for call in message_of(events).tool_calls]
    assert ids == ["call_1", "call_2"]
    assert quirks(events) == ["missing_call_id", "missing_call_id"]


@every_wire
async def test_an_id_used_twice_in_one_answer_is_made_new(wire: str) -> None:
    calls = (Call("echo", {"n": 1}, id="same"), Call("echo", {"n": 2}, id="same"))
    events = await ask(wire, Reply(calls=calls))
    assert [call.id for call in message_of(events).tool_calls] == ["same", "call_1"]
    assert quirks(events) == ["duplicate_call_id"]


@every_wire
async def test_an_id_from_earlier_in_the_conversation_is_made_new(wire: str) -> None:
    earlier = AssistantMessage((ToolCall("call_0", "echo", {}),), StopReason.TOOL_USE)
    with ModelServer([Reply(calls=(Call("echo", id="call_0"),))], strict=False) as server:
        events = await collect(model(server, wire), request(user("a"), earlier))
    (call,) = message_of(events).tool_calls
    assert call.id != "call_0" and quirks(events) == ["duplicate_call_id"]


@every_wire
@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "kubectl.get", "ü"])
async def test_an_impossible_name_makes_an_unusable_call_with_a_possible_name(
    wire: str, name: str
) -> None:
    events = await ask(wire, Reply(calls=(Call(name, {"a": 1}),)))
    (call,) = message_of(events).tool_calls
    assert call.problem and call.arguments is None
    assert call.name and len(call.name) <= 64 and call.name.replace("_", "a").isascii()
    assert quirks(events) == ["invalid_tool_name"]


@every_wire
async def test_space_around_a_name_is_trimmed(wire: str) -> None:
    events = await ask(wire, Reply(calls=(Call(" echo\n", {"a": 1}),)))
    (call,) = message_of(events).tool_calls
    assert (call.name, call.problem) == ("echo", "") and quirks(events) == ["invalid_tool_name"]


_LIMIT = {
    "anthropic_messages": "max_tokens",
    "openai_chat": "length",
    "openai_responses": "incomplete",
}


@every_wire
async def test_a_call_cut_off_at_the_limit_is_unusable_and_no_quirk(wire: str) -> None:
    calls = (Call("echo", {"a": 1}), Call("echo", raw='{"path": "/et'))
    events = await ask(wire, Reply(calls=calls, stop=_LIMIT[wire]))
    message = message_of(events)
    whole, cut = message.tool_calls
    assert message.stop is StopReason.MAX_TOKENS
    assert whole.arguments == {"a": 1} and not whole.problem
    assert cut.arguments is None and "limit" in cut.problem
    assert quirks(events) == []


# Empty answers, ends and faults


@every_wire
@pytest.mark.parametrize("reply", [Reply(), Reply(thinking="hm"), Reply(text=" \n")])
async def test_an_answer_without_content_is_a_failure(wire: str, reply: Reply) -> None:
    end = failed(await ask(wire, reply))
    assert end.failure.kind is FailureKind.EMPTY_RESPONSE
    assert end.failure.status == 200 and end.failure.phase == "stream"


@every_wire
async def test_text_cut_at_the_limit_says_so(wire: str) -> None:
    message = message_of(await ask(wire, Reply(text="half", stop=_LIMIT[wire])))
    assert (message.text, message.stop) == ("half", StopReason.MAX_TOKENS)


@every_wire
async def test_a_stream_that_just_ends_is_a_failure_with_its_part(wire: str) -> None:
    events = await ask(wire, Reply(text="unfinished", edit=drop_last(3)))
    end = failed(events)
    assert end.failure.kind is FailureKind.NETWORK and end.failure.partial
    assert end.partial is not None and end.partial.text == "unfinished"
    assert end.partial.stop is StopReason.ABORTED


async def test_an_end_without_the_last_event_is_an_end() -> None:
    for wire in ("openai_chat", "anthropic_messages"):
        assert message_of(await ask(wire, Reply(text="hi", edit=drop_last(1)))).text == "hi"


async def test_a_last_event_without_its_blank_line_is_read() -> None:
    for wire in WIRES:
        events = frames(wire, Reply(text="hi"), {}, 1)
        assert message_of(decode(wire, b"".join(events).rstrip(b"\n"))).text == "hi"


_ERRORS = {
    "anthropic_messages": named(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    ),
    "openai_chat": data({"error": {"message": "Overloaded", "code": 503}}),
    "openai_responses": named(
        {"type": "error", "code": "server_is_overloaded", "message": "Overloaded"}
    ),
}


@every_wire
async def test_an_error_inside_a_good_stream_is_a_failure(wire: str) -> None:
    reply = Reply(text="a longer text that is cut", edit=insert(5, _ERRORS[wire]))
    end = failed(await ask(wire, reply))
    assert end.failure.kind is FailureKind.OVERLOADED
    assert (end.failure.status, end.failure.phase, end.failure.partial) == (200, "stream", True)
    assert (end.failure.provider, end.failure.model) == ("peer", "m")


async def test_a_failed_response_is_a_failure() -> None:
    error = {"code": "rate_limit_exceeded", "message": "Please try again in 3s."}
    event = named({"type": "response.failed", "response": {"id": "r", "error": error}})
    failure = failure_of(await ask("openai_responses", Reply(edit=lambda _: [event])))
    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMIT, 3)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("error", FailureKind.SERVER_ERROR),
        ("insufficient_system_resource", FailureKind.OVERLOADED),
    ],
)
async def test_a_finish_reason_can_be_a_fault(reason: str, kind: FailureKind) -> None:
    failure = failure_of(await ask("openai_chat", Reply(text="half", stop=reason)))
    assert failure.kind is kind and failure.partial


_REFUSALS = {"anthropic_messages": "refusal", "openai_chat": "content_filter"}


@pytest.mark.parametrize("wire", _REFUSALS)
async def test_a_refusal_with_words_is_an_answer_and_without_a_failure(wire: str) -> None:
    said = message_of(await ask(wire, Reply(text="I cannot.", stop=_REFUSALS[wire])))
    assert said.stop is StopReason.REFUSAL
    silent = failure_of(await ask(wire, Reply(stop=_REFUSALS[wire])))
    assert silent.kind is FailureKind.CONTENT_POLICY


@every_wire
async def test_bad_json_and_unknown_events_are_seen_and_passed_over(wire: str) -> None:
    odd = (b"data: {broken\n\n", b"data: [1]\n\n", named({"type": "response.new_thing", "x": 1}))
    events = await ask(wire, Reply(text="fine", edit=insert(2, *odd)))
    assert message_of(events).text == "fine"
    assert quirks(events) == ["bad_json", "bad_json", "unknown_event"]


async def test_doubled_events_are_read_once() -> None:
    # Block starts on the one protocol, numbered events on the other.
    started = await ask("anthropic_messages", Reply(text="once", edit=repeat(2)))
    assert message_of(started).text == "once" and quirks(started) == ["duplicate_delta"]
    numbered = await ask("openai_responses", Reply(text="once", edit=repeat(4)))
    assert message_of(numbered).text == "once" and quirks(numbered) == ["duplicate_delta"]


async def test_the_final_copy_of_an_item_counts() -> None:
    delta = {
        "type": "response.output_text.delta",
        "output_index": 0,
        "content_index": 0,
        "delta": "once",
    }
    events = await ask("openai_responses", Reply(text="once", edit=insert(5, named(delta))))
    assert message_of(events).text == "once" and quirks(events) == ["duplicate_delta"]


async def test_items_lost_on_the_way_stand_in_the_final_response() -> None:
    reply = Reply(
        text="kept", calls=(Call("echo", {"a": 1}),), edit=lambda events: [events[0], events[-1]]
    )
    message = message_of(await ask("openai_responses", reply))
    assert message.text == "kept" and message.tool_calls[0].arguments == {"a": 1}


@every_wire
async def test_a_stream_without_end_is_refused(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from truepenny.model import decoder

    monkeypatch.setattr(decoder, "MAX_ANSWER_BYTES", 2000)
    end = failed(await ask(wire, Reply(text="x" * 4000)))
    assert end.failure.kind is FailureKind.SERVER_ERROR
