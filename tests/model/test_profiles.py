"""Profiles as data: every entry is well formed and used, the more specific one wins."""

from __future__ import annotations

import tomllib
from typing import Any, get_args

import pytest

from truepenny.model.catalog import WIRES
from truepenny.model.profile import MaxTokensField, Profile, SystemRole, ThinkingForm
from truepenny.model.profile_data import DIRECTORY, FIELDS, known, normalised, patterns, profile_of

FILES = sorted(DIRECTORY.glob("*.toml"))
ENTRIES: list[tuple[str, dict[str, Any]]] = [
    (path.name, entry)
    for path in FILES
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["profile"]
]

WORDS = {
    "max_tokens_field": get_args(MaxTokensField),
    "system_role": get_args(SystemRole),
    "thinking": get_args(ThinkingForm),
}


@pytest.mark.parametrize(("file", "entry"), ENTRIES)
def test_an_entry_says_only_what_a_profile_knows(file: str, entry: dict[str, Any]) -> None:
    assert set(entry) - {"pattern", "wire"} <= FIELDS
    assert set(entry) - {"pattern", "wire"}
    assert entry.get("wire", "local") in WIRES
    for name, value in entry.items():
        if name in WORDS:
            assert value in WORDS[name]
        elif name in FIELDS:
            default = getattr(Profile("m"), name)
            assert default is None or isinstance(value, type(default) | list)
    assert entry["pattern"] == normalised(entry["pattern"].replace("[", "").replace("]", "")) or (
        "[" in entry["pattern"]
    )


def test_no_pattern_is_written_twice() -> None:
    keys = [(entry.pattern, entry.wire) for entry in patterns()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("model", "wire", "thinking", "temperature"),
    [
        ("claude-3-5-sonnet-20241022", "anthropic_messages", "none", True),
        ("claude-3-7-sonnet-latest", "anthropic_messages", "budget", True),
        ("claude-sonnet-4-20250514", "anthropic_messages", "budget", True),
        ("claude-opus-4-1", "anthropic_messages", "budget", True),
        ("claude-haiku-4-5-20251001", "anthropic_messages", "budget", True),
        ("claude-opus-4-6", "anthropic_messages", "adaptive", True),
        ("claude-opus-4-8", "anthropic_messages", "adaptive", False),
        ("claude-sonnet-5", "anthropic_messages", "adaptive", False),
        ("claude-of-a-new-kind", "anthropic_messages", "adaptive", False),
        ("anthropic/claude-sonnet-4.5", "openai_chat", "effort", True),
        ("minimax-m2", "anthropic_messages", "none", True),
        ("gpt-4o-mini", "openai_chat", "none", True),
        ("gpt-5-mini", "openai_responses", "effort", False),
        ("gpt-5.2", "openai_chat", "effort", False),
        ("gpt-5-chat-latest", "openai_chat", "none", False),
        ("o3", "openai_chat", "effort", False),
        ("o4-mini", "openai_chat", "effort", False),
    ],
)
def test_families_and_generations(model: str, wire: str, thinking: str, temperature: bool) -> None:
    profile = profile_of(model, wire)
    assert (profile.model, profile.thinking, profile.temperature) == (model, thinking, temperature)


def test_reasoning_families_count_completion_tokens() -> None:
    for model in ("gpt-5", "gpt-5.2-mini", "o1", "o3-mini", "o4-mini-2025-04-16"):
        assert profile_of(model, "openai_chat").max_tokens_field == "max_completion_tokens"
    for model in ("gpt-4o", "qwen3:8b", "unheard-of"):
        assert profile_of(model, "openai_chat").max_tokens_field == "max_tokens"


def test_cache_markers_are_for_the_wire_that_has_them() -> None:
    assert profile_of("claude-opus-4-6", "anthropic_messages").cache_markers
    assert not profile_of("claude-opus-4-6", "openai_chat").cache_markers


def test_an_unknown_model_gets_no_guess() -> None:
    assert profile_of("unheard-of", "openai_chat") == Profile("unheard-of")
    assert not known("unheard-of", "openai_chat")
    assert known("gpt-5", "openai_chat")


def test_small_open_models_are_read_for_written_calls() -> None:
    assert profile_of("qwen2.5-coder:1.5b", "openai_chat").text_tool_calls
    assert profile_of("my-own-file", "local").text_tool_calls
    assert not profile_of("gpt-5", "openai_chat").text_tool_calls


def test_settings_beat_provider_beats_data_and_are_pinned() -> None:
    profile = profile_of(
        "gpt-5",
        "openai_chat",
        additions={"reports_cost": True, "thinking": "none", "context_window": 1},
        overrides={"context_window": 2, "efforts": ["low"]},
    )
    assert (profile.reports_cost, profile.thinking) == (True, "none")
    assert (profile.context_window, profile.efforts) == (2, ("low",))
    assert profile.pinned == {"context_window", "efforts"}


def test_a_deployment_can_be_like_a_known_model() -> None:
    profile = profile_of("prod-deployment-7", "openai_chat", like="gpt-5")
    assert profile.model == "prod-deployment-7"
    assert profile.max_tokens_field == "max_completion_tokens"
