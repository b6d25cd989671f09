"""A capability learned from a refusal: asked once more, remembered, never in a circle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.model.asking import collect, failure_of, learned, message_of, model, request
from tests.peers.model_script import Reply
from tests.peers.model_server import KEY, ModelServer
from truepenny.model.capability import CapabilityMemory
from truepenny.model.failure import FailureKind
from truepenny.model.profile import Profile

pytestmark = pytest.mark.anyio

CHAT, MESSAGES, RESPONSES = "openai_chat", "anthropic_messages", "openai_responses"

LESSONS = [
    (CHAT, "max_tokens", {}, {}, ("max_tokens_field", "max_completion_tokens")),
    (
        CHAT,
        "max_completion_tokens",
        {"max_tokens_field": "max_completion_tokens"},
        {},
        ("max_tokens_field", "max_tokens"),
    ),
    (CHAT, "temperature", {}, {"temperature": 0.5}, ("temperature", "no")),
    (CHAT, "stream_options", {}, {}, ("stream_usage", "no")),
    (CHAT, "developer", {"system_role": "developer"}, {}, ("system_role", "system")),
    (CHAT, "system", {}, {}, ("system_role", "developer")),
    (CHAT, "reasoning_effort", {"thinking": "effort"}, {"effort": "low"}, ("thinking", "none")),
    (
        MESSAGES,
        "thinking.enabled",
        {"thinking": "budget"},
        {"effort": "high"},
        ("thinking", "adaptive"),
    ),
    (
        MESSAGES,
        "thinking.adaptive",
        {"thinking": "adaptive"},
        {"effort": "high"},
        ("thinking", "budget"),
    ),
    (
        MESSAGES,
        "thinking.disabled",
        {"thinking": "adaptive"},
        {"effort": "off"},
        ("thinking_off", "no"),
    ),
    (MESSAGES, "effort", {"thinking": "adaptive"}, {"effort": "high"}, ("efforts", "")),
    (MESSAGES, "temperature", {}, {"temperature": 0.5}, ("temperature", "no")),
    (RESPONSES, "temperature", {}, {"temperature": 0.5}, ("temperature", "no")),
]


@pytest.mark.parametrize(("wire", "refused", "profile", "fields", "lesson"), LESSONS)
async def test_a_refused_form_is_changed_once_and_remembered(
    wire: str,
    refused: str,
    profile: dict[str, Any],
    fields: dict[str, Any],
    lesson: tuple[str, str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "capabilities.json"
    with ModelServer([Reply(text="a"), Reply(text="b")], refused={refused}) as server:
        wanted = request(max_output_tokens=9000, **fields)
        first = model(server, wire, Profile("m", **profile), capabilities=CapabilityMemory(path))
        events = await collect(first, wanted)
        assert learned(events) == [lesson] and message_of(events).text == "a"
        assert len(server.requests) == 2
        # Another process knows it from the file: no refusal is paid for again.
        second = model(server, wire, Profile("m", **profile), capabilities=CapabilityMemory(path))
        events = await collect(second, wanted)
        assert learned(events) == [] and message_of(events).text == "b"
        assert len(server.requests) == 3


async def test_refused_in_both_forms_ends_and_teaches_nothing() -> None:
    memory = CapabilityMemory()
    with ModelServer(refused={"max_tokens", "max_completion_tokens"}) as server:
        asked = model(server, CHAT, capabilities=memory)
        events = await collect(asked, request(max_output_tokens=100))
        assert failure_of(events).kind is FailureKind.FORMAT_ERROR
        assert len(server.requests) == 2
        assert memory.lessons(asked.endpoint, "m") == {}


async def test_two_refused_forms_are_learned_in_one_go() -> None:
    with ModelServer([Reply(text="a")], refused={"max_tokens", "temperature"}) as server:
        asked = model(server, CHAT)
        events = await collect(asked, request(max_output_tokens=100, temperature=0.5))
        assert message_of(events).text == "a"
        assert sorted(name for name, _ in learned(events)) == ["max_tokens_field", "temperature"]
        assert len(server.requests) == 3


async def test_what_a_person_pinned_is_sent_and_its_refusal_stands() -> None:
    pinned = Profile("m", pinned=frozenset({"max_tokens_field"}))
    with ModelServer(refused={"max_tokens"}) as server:
        events = await collect(model(server, CHAT, pinned), request(max_output_tokens=100))
        assert failure_of(events).kind is FailureKind.FORMAT_ERROR
        assert learned(events) == [] and len(server.requests) == 1


async def test_a_refusal_about_something_else_teaches_nothing() -> None:
    with ModelServer() as server:
        events = await collect(model(server, MESSAGES, Profile("")))
        assert failure_of(events).kind is FailureKind.FORMAT_ERROR
        assert learned(events) == [] and len(server.requests) == 1


async def test_a_lesson_quotes_no_credential() -> None:
    from tests.peers.model_script import Refuse

    memory = CapabilityMemory()
    words = f"'temperature' is not supported for {KEY}"
    with ModelServer([Refuse(400, words), Reply(text="a")]) as server:
        asked = model(server, CHAT, capabilities=memory)
        events = await collect(asked, request(temperature=0.5))
    assert learned(events) == [("temperature", "no")]
    assert KEY not in repr(events) + repr(memory.lessons(asked.endpoint, "m"))
