"""The tree itself: described, documented, and in step with the parts that it configures."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from truepenny.config.environment import variable_name
from truepenny.config.schema import dotted_keys
from truepenny.config.settings import ModelOverrides, ModelSettings, ProviderSettings, Settings
from truepenny.model.catalog import WIRES
from truepenny.model.endpoint import Timeouts
from truepenny.model.profile_data import FIELDS
from truepenny.model.request import Effort

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_every_key_has_a_description() -> None:
    assert [key for key, entry in dotted_keys() if not entry.description] == []


def test_every_key_and_no_other_is_in_the_documentation() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    keys = {key for key, _ in dotted_keys()}
    documented = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert documented == keys


def test_the_documented_defaults_are_the_real_ones() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    documented = {row[0].split("`")[1]: row[2].strip("`") for row in rows}
    settings = Settings()
    for key, shown in documented.items():
        section, _, name = key.partition(".")
        default = getattr(getattr(settings, section), name, None)
        if isinstance(default, bool):
            assert shown == str(default).lower(), key
        elif isinstance(default, int | float):
            assert float(shown) == default, key


def test_overrides_are_the_profiles_fields() -> None:
    assert set(ModelOverrides.model_fields) - {"id", "profile"} == FIELDS


def test_words_and_limits_agree_with_the_model_package() -> None:
    wires = get_args(get_args(ProviderSettings.model_fields["wire"].annotation)[0])
    assert set(wires) == set(WIRES)
    efforts = get_args(get_args(ModelSettings.model_fields["effort"].annotation)[0])
    assert efforts == get_args(Effort)
    model, timeouts = ModelSettings(), Timeouts()
    assert (model.connect_timeout, model.first_byte_timeout, model.idle_timeout) == (
        timeouts.connect,
        timeouts.first_byte,
        timeouts.idle,
    )


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().run.max_turns = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_variable_names_are_the_keys_in_capitals() -> None:
    assert variable_name(["run", "max_turns"]) == "TRUEPENNY_RUN__MAX_TURNS"
    assert variable_name(["providers", "my-vllm", "wire"]) == "TRUEPENNY_PROVIDERS__MY_VLLM__WIRE"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"programs": {"ship": {}}}, "missing|required"),
        ({"programs": {"ship": {"argv": []}}}, "at least 1"),
        ({"programs": {"ship": {"argv": [""]}}}, "no empty text"),
        ({"programs": {"ship": {"argv": ["a\0b"]}}}, "no empty text"),
        ({"programs": {"ship": {"argv": ["a"], "allow": ["* x"]}}}, "last word"),
        ({"programs": {"ship": {"argv": ["a"], "timeout": 301}}}, "less than or equal"),
        ({"programs": {"a/b": {"argv": ["a"]}}}, "pattern"),
        ({"credentials": {"ship-token": {"value": "x"}}}, "pattern"),
        ({"credentials": {"A": {"value": "x", "proxy_only": "no"}}}, "boolean"),
    ],
)
def test_programs_and_credentials_are_checked(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings.model_validate(table)
