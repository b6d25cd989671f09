"""What is sent: pictures, thinking, calls and results, cache markers; each message encoded once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.asking import TOOLS, WIRES, collect, message_of, model, request
from tests.peers.model_rules import check
from tests.peers.model_script import Call, Reply
from tests.peers.model_server import ModelServer, turns_then_text
from truepenny.model.message import (
    AssistantMessage,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user,
)
from truepenny.model.profile import Profile
from truepenny.model.request import ModelRequest, ToolSchema
from truepenny.model.wires.encoding import effort_word

pytestmark = pytest.mark.anyio

every_wire = pytest.mark.parametrize("wire", WIRES)
PICTURE = Image("image/png", b"\x89PNG", name="graph.png")


def sent(
    wire: str, *messages: Message, profile: Profile | None = None, **fields: Any
) -> dict[str, Any]:
    """Return the request body, without any network."""
    profile = profile or Profile("m")
    asked = model(ModelServer(), wire, profile)
    return json.loads(asked.encode(request(*messages, **fields), profile))


def called(*calls: ToolCall) -> AssistantMessage:
    return AssistantMessage(calls, StopReason.TOOL_USE)


def result(call: ToolCall, *content: Text | Image, failed: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call.id, call.name, content or (Text("ok"),), failed)


# Whole conversations against a strict provider


@every_wire
async def test_a_conversation_with_tools_and_thinking_is_taken_by_a_strict_server(
    wire: str,
) -> None:
    answers = [
        Reply(thinking="plan", text="I look.", calls=(Call("echo", {"n": 1}), Call("echo"))),
        Reply(thinking="more", calls=(Call("echo", raw="{broken"),)),
        Reply(calls=(Call("no such tool"),)),
        Reply(text="Done."),
    ]
    thinking = {"anthropic_messages": "adaptive", "openai_responses": "effort"}.get(wire, "none")
    profile = Profile("m", thinking=thinking, cache_markers=True)  # pyright: ignore[reportArgumentType]
    history: list[Message] = [user("go")]
    with ModelServer(answers) as server:
        asked = model(server, wire, profile)
        for _ in answers:
            message = message_of(await collect(asked, request(*history, effort="high")))
            history.append(message)
            for call in message.tool_calls:
                history.append(result(call, Text(call.problem or "ok"), failed=bool(call.problem)))
        assert message_of_text(history[-1]) == "Done."
        assert len(server.requests) == len(answers)


def message_of_text(message: Message) -> str:
    assert isinstance(message, AssistantMessage)
    return message.text


EFFORTS = st.sampled_from([None, "off", "low", "high", "max"])
THOUGHTS = (
    Thinking(
        "t", "anthropic_messages:peer", {"type": "thinking", "thinking": "t", "signature": "sig-"}
    ),
    Thinking("t", "openai_chat:peer", {"reasoning_content": "t"}),
    Thinking("t", "openai_responses:peer", {"type": "reasoning", "encrypted_content": "enc-"}),
    Thinking("t", "openai_responses:peer", {"type": "reasoning", "id": "rs_1"}),
    Thinking("t"),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Valid histories as a validator lets them pass: paired calls, in order."""
    text = st.text(st.characters(), max_size=12)
    content = st.lists(st.one_of(text.map(Text), st.just(PICTURE)), min_size=1, max_size=3).map(
        tuple
    )
    messages: list[Message] = [user("start")]
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        parts: list[Text | Thinking | ToolCall] = [
            Text(one) for one in draw(st.lists(text, max_size=2))
        ]
        calls: list[ToolCall] = []
        for _ in range(draw(st.integers(0, 3))):
            number += 1
            broken = draw(st.booleans())
            call_id = draw(st.sampled_from([f"call_{number}", f"f.x:{number}"]))
            calls.append(
                ToolCall(call_id, "echo", None, raw=draw(text), problem="bad")
                if broken
                else ToolCall(call_id, "echo", {"n": draw(text)})
            )
        if draw(st.booleans()):
            parts.insert(0, draw(st.sampled_from(THOUGHTS)))
        messages.append(AssistantMessage((*parts, *calls), StopReason.TOOL_USE))
        for call in calls:
            messages.append(result(call, *draw(content), failed=draw(st.booleans())))
        messages.append(UserMessage(draw(content)))
    return messages


@every_wire
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=histories(), flags=st.tuples(*[st.booleans()] * 3), effort=EFFORTS)
def test_every_valid_history_makes_a_valid_request(
    wire: str, history: list[Message], flags: tuple[bool, bool, bool], effort: Any
) -> None:
    markers, images, remembers = flags
    form: Any = {"anthropic_messages": "budget"}.get(wire, "effort")
    profile = Profile(
        "m", cache_markers=markers, images=images, reasoning_history=remembers, thinking=form
    )
    body = sent(wire, *history, profile=profile, effort=effort)
    refusal = check(wire, body, ())
    assert refusal is None, refusal
    # Encoding again, from the kept bytes, gives the same request.
    assert sent(wire, *history, profile=profile, effort=effort) == body


# Pictures


def test_pictures_go_where_the_wire_has_a_place_for_them() -> None:
    asked = UserMessage((Text("see"), PICTURE))
    call = ToolCall("a", "shot", {})
    turns = (asked, called(call), result(call, Text("taken"), PICTURE))

    messages = sent("anthropic_messages", *turns)["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert messages[0]["content"][1] == {"type": "image", "source": source}
    assert messages[2]["content"][0]["content"][1]["source"] == source

    url = "data:image/png;base64,iVBORw=="
    chat = sent("openai_chat", *turns)["messages"]
    assert chat[1]["content"][1] == {"type": "image_url", "image_url": {"url": url}}
    note = "[image graph.png image/png, 4 bytes: not shown to this model]"
    assert chat[3]["content"] == f"taken\n{note}"

    items = sent("openai_responses", *turns)["input"]
    picture = {"type": "input_image", "image_url": url}
    assert items[0]["content"][1] == picture
    assert items[2]["output"] == [{"type": "input_text", "text": "taken"}, picture]


@every_wire
def test_a_model_without_eyes_reads_a_note(wire: str) -> None:
    profile = Profile("m", images=False)
    body = json.dumps(sent(wire, UserMessage((PICTURE,)), profile=profile))
    assert "not shown to this model" in body and "iVBORw" not in body


# Opaque fields


@every_wire
async def test_opaque_thinking_comes_back_to_its_provider_and_to_no_other(wire: str) -> None:
    with ModelServer([Reply(thinking="plan", text="hi")]) as server:
        message = message_of(await collect(model(server, wire)))
    assert "plan" in json.dumps(sent(wire, user("a"), message))
    for other in WIRES.keys() - {wire}:
        assert "plan" not in json.dumps(sent(other, user("a"), message))
    silent = Profile("m", reasoning_history=False)
    assert "plan" not in json.dumps(sent(wire, user("a"), message, profile=silent))


async def test_redacted_thinking_comes_back_unread() -> None:
    block = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    from tests.peers.model_frames import named
    from tests.peers.model_script import insert

    frames = (
        named({"type": "content_block_start", "index": 7, "content_block": block}),
        named({"type": "content_block_stop", "index": 7}),
    )
    with ModelServer([Reply(text="hi", edit=insert(2, *frames))]) as server:
        message = message_of(await collect(model(server, "anthropic_messages")))
    assert message.content[0] == Thinking("", "anthropic_messages:peer", block)
    assert sent("anthropic_messages", user("a"), message)["messages"][1]["content"][0] == block


async def test_a_thought_signature_comes_back_with_its_call() -> None:
    extra = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    with ModelServer([Reply(calls=(Call("echo", {"n": 1}, extra=extra),))]) as server:
        message = message_of(await collect(model(server, "openai_chat")))
    (call,) = message.tool_calls
    body = sent("openai_chat", user("a"), message, result(call))
    assert body["messages"][2]["tool_calls"][0]["extra_content"] == extra["extra_content"]
    elsewhere = json.dumps(sent("openai_responses", user("a"), message, result(call)))
    assert "c2ln" not in elsewhere


async def test_reasoning_details_come_back_as_they_came() -> None:
    details = [{"type": "reasoning.encrypted", "data": "eA==", "index": 0}]
    from tests.peers.model_frames import data
    from tests.peers.model_script import insert

    chunk = data({"choices": [{"delta": {"reasoning_details": details}}]})
    with ModelServer([Reply(text="hi", edit=insert(1, chunk))]) as server:
        message = message_of(await collect(model(server, "openai_chat")))
    body = sent("openai_chat", user("a"), message)
    assert body["messages"][2]["reasoning_details"] == details


# Calls and results


@every_wire
def test_unreadable_arguments_are_shown_to_the_model_as_it_wrote_them(wire: str) -> None:
    call = ToolCall("a", "echo", None, raw='{"path": ', problem="cut")
    body = json.dumps(sent(wire, user("a"), called(call), result(call, failed=True)))
    assert "unreadable_arguments" in body


def test_parallel_results_are_one_turn_and_failures_are_marked() -> None:
    calls = (ToolCall("a.1", "echo", {}), ToolCall("a.2", "echo", {}))
    turns = (user("x"), called(*calls), result(calls[0]), result(calls[1], failed=True))
    messages = sent("anthropic_messages", *turns, user("and?"))["messages"]
    assert [turn["role"] for turn in messages] == ["user", "assistant", "user"]
    first, second, words = messages[2]["content"]
    asked = [part["id"] for part in messages[1]["content"]]
    assert [first["tool_use_id"], second["tool_use_id"]] == asked
    assert "is_error" not in first and second["is_error"] and words["text"] == "and?"


def test_ids_that_differ_only_in_what_the_api_refuses_stay_apart() -> None:
    calls = (ToolCall("a.b", "echo", {}), ToolCall("a:b", "echo", {}), ToolCall("a_b", "echo", {}))
    turns = (user("x"), called(*calls), *(result(call) for call in calls))
    body = sent("anthropic_messages", *turns)
    assert check("anthropic_messages", body, ()) is None
    assert len({part["id"] for part in body["messages"][1]["content"]}) == 3


def test_an_answer_does_not_end_with_thinking() -> None:
    opaque = {"type": "thinking", "thinking": "t", "signature": "s"}
    origin = "anthropic_messages:peer"
    answer = AssistantMessage(
        (Text("done"), Thinking("t", origin, opaque)), StopReason.END_TURN, "m"
    )
    body = sent("anthropic_messages", user("x"), answer, user("and?"))
    assert [part["type"] for part in body["messages"][1]["content"]] == ["text"]


# Parameters


def test_cache_markers_stand_at_the_stable_ends() -> None:
    profile = Profile("m", cache_markers=True)
    call = ToolCall("a", "echo", {})
    body = sent("anthropic_messages", user("x"), called(call), result(call), profile=profile)
    mark = {"type": "ephemeral"}
    assert body["tools"][-1]["cache_control"] == mark
    assert body["system"][-1]["cache_control"] == mark
    turns = body["messages"]
    assert turns[0]["content"][-1]["cache_control"] == mark
    assert turns[2]["content"][-1]["cache_control"] == mark
    assert json.dumps(body).count("cache_control") == 4
    bare = json.dumps(sent("anthropic_messages", user("x")))
    assert "cache_control" not in bare


@pytest.mark.parametrize(
    ("form", "effort", "choice", "thinking", "config"),
    [
        ("none", "high", "auto", None, None),
        ("budget", None, "auto", None, None),
        ("budget", "off", "auto", None, None),
        ("budget", "low", "auto", {"type": "enabled", "budget_tokens": 4096}, None),
        ("budget", "max", "auto", {"type": "enabled", "budget_tokens": 8192}, None),
        ("budget", "high", "required", None, None),
        ("adaptive", None, "auto", None, None),
        ("adaptive", "minimal", "auto", {"type": "adaptive"}, {"effort": "low"}),
        ("adaptive", "high", "auto", {"type": "adaptive"}, {"effort": "high"}),
        ("adaptive", "off", "auto", {"type": "disabled"}, None),
        ("adaptive", "high", "required", {"type": "disabled"}, None),
    ],
)
def test_thinking_is_asked_for_in_the_form_of_the_profile(
    form: Any, effort: Any, choice: Any, thinking: Any, config: Any
) -> None:
    body = sent(
        "anthropic_messages",
        profile=Profile("m", thinking=form),
        effort=effort,
        tool_choice=choice,
    )
    assert (body.get("thinking"), body.get("output_config")) == (thinking, config)


def test_no_budget_after_an_answer_without_our_thinking() -> None:
    profile = Profile("m", thinking="budget")
    block = {"type": "thinking", "thinking": "t", "signature": "sig-"}
    call = ToolCall("a", "echo", {})

    def asked(*parts: Thinking) -> dict[str, Any]:
        said = AssistantMessage((*parts, call), StopReason.TOOL_USE)
        turns = (user("x"), said, result(call))
        return sent("anthropic_messages", *turns, profile=profile, effort="high")

    assert "thinking" in asked(Thinking("t", "anthropic_messages:peer", block))
    assert "thinking" not in asked()
    assert "thinking" not in asked(Thinking("t", "anthropic_messages:other", block))


def test_no_temperature_beside_thinking() -> None:
    thinks = sent(
        "anthropic_messages",
        profile=Profile("m", thinking="budget"),
        effort="high",
        temperature=0.5,
    )
    assert "temperature" not in thinks
    assert sent("anthropic_messages", temperature=0.0)["temperature"] == 0


@pytest.mark.parametrize(
    ("effort", "efforts", "word"),
    [
        (None, ("low",), None),
        ("high", (), None),
        ("xhigh", ("low", "medium", "high"), "high"),
        ("minimal", ("low", "high"), "low"),
        ("medium", ("low", "high"), "low"),
        ("off", ("none", "low"), "none"),
        ("off", ("low", "high"), "low"),
        ("max", ("low", "xhigh", "max"), "max"),
    ],
)
def test_efforts_are_folded_to_the_nearest_word(
    effort: Any, efforts: tuple[str, ...], word: str | None
) -> None:
    assert effort_word(effort, efforts) == word


def test_the_output_limit_has_the_name_of_the_profile() -> None:
    new = Profile("m", max_tokens_field="max_completion_tokens", max_output_tokens=50)
    assert sent("openai_chat", profile=new)["max_completion_tokens"] == 50
    assert sent("openai_chat", max_output_tokens=7)["max_tokens"] == 7
    assert not {"max_tokens", "max_completion_tokens"} & sent("openai_chat").keys()
    assert sent("openai_responses", max_output_tokens=7)["max_output_tokens"] == 7
    assert sent("anthropic_messages")["max_tokens"] == 16_384


def test_nothing_is_stored_at_the_provider() -> None:
    body = sent("openai_responses", profile=Profile("m", thinking="effort"), effort="low")
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"effort": "low"}
    assert "include" not in sent("openai_responses")


@every_wire
def test_choices_about_tools_are_sent_only_where_they_matter(wire: str) -> None:
    assert not {"tool_choice", "parallel_tool_calls"} & sent(wire).keys()
    assert sent(wire, tool_choice="none")["tool_choice"] in ("none", {"type": "none"})
    assert sent(wire, tool_choice="required")["tool_choice"] in ("required", {"type": "any"})
    serial = json.dumps(sent(wire, profile=Profile("m", parallel_tool_calls=False)))
    assert "parallel_tool" in serial
    assert "tools" not in sent(wire, profile=Profile("m", tools=False))
    assert not {"tools", "tool_choice"} & sent(wire, tools=(), tool_choice="none").keys()


@every_wire
def test_extra_fields_are_sent_and_an_empty_prompt_is_left_out(wire: str) -> None:
    body = sent(wire, profile=Profile("m", extra_body={"service_tier": "flex", "n": {"a": 1}}))
    assert (body["service_tier"], body["n"]) == ("flex", {"a": 1})
    profile = Profile("m")
    asked = model(ModelServer(), wire, profile)
    bare = json.loads(asked.encode(ModelRequest("", (user("hi"),)), profile))
    assert not {"system", "instructions", "tools"} & bare.keys()
    assert "Be brief." not in json.dumps(bare)


# Each message is encoded once


@every_wire
def test_a_message_and_the_tools_are_encoded_once(
    wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from truepenny.model.wires import encoding

    encoded: list[Any] = []

    def counting(value: Any) -> bytes:
        encoded.append(value)
        return json.dumps(value).encode()

    monkeypatch.setattr(encoding, "encode", counting)
    profile = Profile("m")
    asked = model(ModelServer(), wire, profile)
    history: list[Message] = [user("start")]
    tools = (*TOOLS, ToolSchema("other", "Else.", {"type": "object"}))
    per_turn: list[int] = []
    for number in range(30):
        call = ToolCall(f"call_{number}", "echo", {"n": number}, raw='{"n": 1}')
        history += [called(call), result(call)]
        before = len(encoded)
        body = asked.encode(ModelRequest("s", history, tools), profile)
        per_turn.append(len(encoded) - before)
        assert check(wire, json.loads(body), ()) is None
    assert set(per_turn[1:]) == {2}


@every_wire
def test_another_form_of_the_profile_is_encoded_anew(wire: str) -> None:
    picture = UserMessage((PICTURE,))
    shown = sent(wire, picture)
    noted = sent(wire, picture, profile=Profile("m", images=False))
    assert shown != noted == sent(wire, picture, profile=Profile("m", images=False))
    assert shown == sent(wire, picture)


@every_wire
async def test_the_server_for_benchmarks_counts_turns_by_results(wire: str) -> None:
    history: list[Message] = [user("go")]
    answers = turns_then_text(2, Call("echo", {"text": "x"}), "End.")
    with ModelServer(answers, strict=False) as server:
        asked = model(server, wire)
        names: list[Mapping[str, Any] | str] = []
        for _ in range(3):
            message = message_of(await collect(asked, request(*history)))
            names.append(message.tool_calls[0].name if message.tool_calls else message.text)
            history += [message, *(result(call) for call in message.tool_calls)]
    assert names == ["echo", "echo", "End."]
