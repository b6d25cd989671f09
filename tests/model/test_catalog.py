"""The catalog: which models there are, what a name means, what a bad name is answered with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.peers.model_script import Reply
from tests.peers.model_server import ModelServer
from truepenny.config.settings import Settings
from truepenny.errors import ConfigurationError
from truepenny.model.catalog import WIRES, available, find, probe, resolve
from truepenny.model.event import MessageEnd
from truepenny.model.message import user
from truepenny.model.provider import presets, providers
from truepenny.model.request import ModelRequest
from truepenny.model.tool_text.model import TextToolModel
from truepenny.model.wires import builtin
from truepenny.model.wires.anthropic_messages import AnthropicMessagesModel
from truepenny.model.wires.openai_chat import OpenAIChatModel
from truepenny.model.wires.openai_responses import OpenAIResponsesModel
from truepenny.text.redact import Redactor

pytestmark = pytest.mark.anyio


@dataclass
class Place:
    state: Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "state")


def settings(**tables: Any) -> Settings:
    return Settings.model_validate(tables)


CHAT = {"wire": "openai_chat", "base_url": "http://127.0.0.1:9/v1"}


def refused(name: str | None, given: Settings, env: Mapping[str, str] | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        find(name, given, env or {})
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_with_nothing_configured_the_analyst_answers() -> None:
    entry = find(None, Settings(), {})
    assert entry.name == builtin.DEFAULT
    assert [entry.name for entry in available(Settings(), {}) if entry.default] == [entry.name]


def test_a_named_model_goes_before_the_configured_default() -> None:
    given = settings(model={"default": "a/one"}, providers={"a": CHAT})
    assert find(None, given, {}).name == "a/one"
    assert find(None, given, {}).default
    assert find("a/two", given, {}).name == "a/two"
    assert not find("a/two", given, {}).default
    assert find("builtin/analyst", given, {}).wire == "builtin"


def test_the_ways_to_name_a_model() -> None:
    given = settings(
        providers={
            "a": {**CHAT, "models": {"org/deep:8b": {"id": "deep-8b-2026"}}},
            "b": {**CHAT, "models": {"one": {}, "two": {}}},
            "c": {**CHAT, "models": {"two": {}}},
        }
    )
    assert find("org/deep:8b", given, {}).model == "deep-8b-2026"
    assert find("a/org/deep:8b", given, {}).model == "deep-8b-2026"
    assert find("a", given, {}).name == "a/org/deep:8b"
    assert find("one", given, {}).name == "b/one"
    assert find("b/unlisted", given, {}).model == "unlisted"
    assert "b/two, c/two" in refused("two", given)
    assert "b/one, b/two" in refused("b", given)


def test_an_unknown_name_lists_what_is_configured_and_the_nearest() -> None:
    given = settings(providers={"a": {**CHAT, "models": {"qwen3:8b": {}}}})
    message = refused("a1/qwen3:8b", given)
    assert "a/qwen3:8b" in message
    assert "builtin/analyst" in message
    assert "Did you mean a/qwen3:8b" in message
    assert "ANTHROPIC_API_KEY" in refused("anthropic/claude-opus-4-6", given)
    assert "[providers.ollama]" in refused("ollama/qwen3:8b", given)
    assert "model.default" in refused(None, settings(model={"default": "nowhere/x"}))
    assert "analyst" in refused("builtin/anlyst", given)


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"api_key": "env:GONE"}, "env:GONE"),
        ({"api_key": "file:/nonexistent/key"}, "file:/nonexistent/key"),
        ({}, "wire"),
        ({"wire": "openai_chat"}, "base_url"),
        ({"wire": "local"}, "model_path"),
        ({"wire": "local", "model_path": "/nonexistent.gguf"}, "/nonexistent.gguf"),
        ({**CHAT, "headers": {"x-key": "env:GONE"}}, "env:GONE"),
    ],
)
def test_a_provider_that_lacks_something_says_what(table: dict[str, Any], word: str) -> None:
    given = settings(providers={"a": {**table, "models": {"m": {}}}, "b": CHAT})
    assert word in refused("a/m", given)
    entries = {entry.name: entry for entry in available(given, {})}
    assert not entries["a/m"].ready
    assert entries["a/m"].problem
    assert find("b/m", given, {}).ready


def test_a_known_provider_needs_only_its_variable() -> None:
    env = {"ANTHROPIC_API_KEY": "k1", "OPENAI_API_KEY": "k2"}
    found = providers(Settings(), env)
    assert {name: one.wire for name, one in found.items()} == {
        "anthropic": "anthropic_messages",
        "openai": "openai_responses",
    }
    assert found["anthropic"].api_key == "k1"
    assert found["anthropic"].source == "environment ANTHROPIC_API_KEY"
    assert "k1" not in repr(found)
    elsewhere = providers(Settings(), {**env, "OPENAI_BASE_URL": "http://h/v1"})["openai"]
    assert (elsewhere.base_url, elsewhere.wire) == ("http://h/v1", "openai_chat")
    assert find("anthropic/claude-opus-4-6", Settings(), env).ready


def test_a_known_provider_in_the_settings_is_filled_in() -> None:
    given = settings(providers={"openrouter": {"api_key": "k"}, "ollama": {}, "groq": {}})
    found = providers(given, {})
    assert found["openrouter"].additions["reports_cost"] is True
    assert found["ollama"].problem == ""
    assert "GROQ_API_KEY" in found["groq"].remedy
    assert providers(given, {"GROQ_API_KEY": "k"})["groq"].problem == ""


def test_known_providers_are_whole() -> None:
    for preset in presets().values():
        assert preset.wire in WIRES
        assert preset.wire == "local" or preset.base_url.startswith(("https://", "http://127."))
        assert not preset.key_env or preset.base_url.startswith("https://")


def test_overrides_reach_the_profile_and_are_pinned() -> None:
    table = {**CHAT, "profile": "gpt-5", "models": {"m": {"images": False}, "n": {"profile": "o3"}}}
    given = settings(providers={"a": table})
    entry = find("a/m", given, {})
    assert entry.profile is not None
    assert (entry.profile.images, entry.profile.temperature) == (False, False)
    assert entry.profile.pinned == {"images"}
    other = find("a/n", given, {}).profile
    assert other is not None
    assert other.context_window == 200_000


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        ("anthropic_messages", AnthropicMessagesModel),
        ("openai_chat", OpenAIChatModel),
        ("openai_responses", OpenAIResponsesModel),
    ],
)
async def test_each_wire_answers_through_the_catalog(place: Place, wire: str, kind: type) -> None:
    with ModelServer([Reply(text="fine")]) as server:
        url = server.endpoint(wire).base_url
        table = {"wire": wire, "base_url": url, "api_key": "env:K", "models": {"m": {}}}
        redactor = Redactor()
        env = {"K": server.endpoint(wire).api_key}
        model = resolve("a/m", settings(providers={"a": table}), place, env, redactor)
        assert isinstance(model, kind)
        assert model.name == "a/m"
        events = [event async for event in model.stream(ModelRequest("", [user("hi")]))]
        await model.close()
    assert isinstance(events[-1], MessageEnd)
    assert events[-1].message.text == "fine"
    assert env["K"] not in redactor.text(f"the key is {env['K']}").text


def test_written_calls_are_understood_where_the_profile_says_so(place: Place) -> None:
    table = {**CHAT, "models": {"qwen3:8b": {}, "plain": {}}}
    given = settings(providers={"a": table})
    assert isinstance(resolve("a/qwen3:8b", given, place, {}), TextToolModel)
    assert isinstance(resolve("a/plain", given, place, {}), OpenAIChatModel)
    assert not place.state.exists()


async def test_a_probe_of_an_unusable_entry_is_a_report(place: Place) -> None:
    given = settings(providers={"a": {"models": {"m": {}}}, "b": CHAT})
    for entry in available(given, {}):
        if entry.provider in ("a", "b"):
            report = await probe(entry, place)
            assert not report.ok
            assert report.failure is not None
            assert report.failure.phase == "configuration"


def test_the_default_path_reads_no_profile_and_no_wire() -> None:
    script = (
        "import sys\n"
        "from truepenny.config.settings import Settings\n"
        "from truepenny.model.catalog import find\n"
        "find(None, Settings(), {})\n"
        "print([m for m in ('httpx2', 'jsonschema', 'truepenny.model.profile_data') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert done.stdout.strip() == b"[]"
