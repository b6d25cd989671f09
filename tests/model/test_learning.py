from __future__ import annotations

import pytest

from truepenny.model.capability import CAPABILITIES
from truepenny.model.learning import lesson
from truepenny.model.profile import Profile
from truepenny.model.refusal import Refusal

CASES = [
    (
        Profile("m"),
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        ("max_tokens_field", "max_completion_tokens"),
    ),
    (
        Profile("m", max_tokens_field="max_completion_tokens"),
        "Unrecognized request argument supplied: max_completion_tokens",
        ("max_tokens_field", "max_tokens"),
    ),
    (Profile("m"), "max_tokens: 999999 > 64000, which is the maximum allowed number", None),
    (
        Profile("m"),
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens",
        None,
    ),
    (Profile("m"), "Unsupported value: 'temperature' does not support 0.2", ("temperature", "no")),
    (Profile("m"), "`temperature` is deprecated for this model.", ("temperature", "no")),
    (Profile("m", temperature=False), "`temperature` is deprecated for this model.", None),
    (Profile("m"), "Unknown parameter: 'stream_options'.", ("stream_usage", "no")),
    (
        Profile("m", cache_markers=True),
        "system.0.cache_control: Extra inputs are not permitted",
        ("cache_markers", "no"),
    ),
    (
        Profile("m", thinking="budget"),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.',
        ("thinking", "adaptive"),
    ),
    (
        Profile("m", thinking="adaptive"),
        "adaptive thinking is not supported on this model",
        ("thinking", "budget"),
    ),
    (
        Profile("m", thinking="budget"),
        "This model does not support extended thinking",
        ("thinking", "none"),
    ),
    (
        Profile("m", thinking="adaptive"),
        '"thinking.type.disabled" is not supported for this model',
        ("thinking_off", "no"),
    ),
    (
        Profile("m", thinking="adaptive"),
        "This model does not support the effort parameter.",
        ("efforts", ""),
    ),
    (
        Profile("m", thinking="effort", efforts=("minimal", "low", "high")),
        "Unsupported value: 'minimal' is not supported with the model. "
        "Supported values are: 'low', 'medium', and 'high'. reasoning_effort",
        ("efforts", "low,medium,high"),
    ),
    (
        Profile("m", thinking="effort"),
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        ("thinking", "none"),
    ),
    (
        Profile("m", thinking="effort"),
        "Encrypted content is not supported with this model.",
        ("thinking", "none"),
    ),
    (
        Profile("m", system_role="developer"),
        "'developer' is not one of ['system', 'assistant', 'user'] - 'messages.0.role' unsupported",
        ("system_role", "system"),
    ),
    (
        Profile("m"),
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        ("system_role", "developer"),
    ),
    (Profile("m"), "Invalid schema for function 'x': 'type' is required", None),
    (Profile("m", pinned=frozenset({"temperature"})), "'temperature' is not supported", None),
]


@pytest.mark.parametrize(("profile", "message", "expected"), CASES)
def test_a_refusal_teaches_one_thing_or_nothing(
    profile: Profile, message: str, expected: tuple[str, str] | None
) -> None:
    got = lesson(Refusal(400, message), profile, CAPABILITIES)
    assert (got and (got.capability, got.value)) == expected


def test_the_named_parameter_counts_beside_the_message() -> None:
    refusal = Refusal(400, "Unsupported parameter.", param="temperature")
    got = lesson(refusal, Profile("m"), CAPABILITIES)
    assert got and got.capability == "temperature"


@pytest.mark.parametrize("status", [401, 429, 500, 200, None])
def test_only_a_refused_request_teaches(status: int | None) -> None:
    refusal = Refusal(status, "'temperature' is not supported")
    assert lesson(refusal, Profile("m"), CAPABILITIES) is None


def test_only_what_the_wire_sends_is_learned() -> None:
    refusal = Refusal(400, "'temperature' is not supported")
    assert lesson(refusal, Profile("m"), {"thinking"}) is None
