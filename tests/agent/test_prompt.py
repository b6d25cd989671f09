"""The prompt files: each is used, each placeholder is filled, safety cannot be replaced."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import truepenny.agent
from truepenny.agent.prompt import Layer, render, system_prompt
from truepenny.errors import ConfigurationError

PACKAGE = Path(truepenny.agent.__file__).parent


def test_every_file_is_a_layer_and_every_layer_is_used() -> None:
    files = {path.stem for path in (PACKAGE / "prompts").iterdir()}
    assert files == {layer.value for layer in Layer}
    source = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
    for layer in Layer:
        assert re.search(rf"render\(Layer\.{layer.name}\b", source), layer


def test_safety_comes_last_and_stays() -> None:
    safety = render(Layer.SAFETY)
    for prompt in (
        system_prompt(),
        system_prompt(
            identity="You are Bob.", behaviour="", environment="Cluster a.", read_only=True
        ),
    ):
        assert prompt.rstrip().endswith(safety)
    replaced = system_prompt(identity="You are Bob.", behaviour="Be terse.")
    assert replaced.startswith("You are Bob.\n\nBe terse.\n\n")
    assert render(Layer.BEHAVIOUR) not in replaced


def test_the_environment_is_filled_in_as_it_is() -> None:
    assert "costs $5 or ${x}" in system_prompt(environment="costs $5 or ${x}")


@pytest.mark.parametrize("values", [{}, {"reason": "x", "more": "y"}, {"other": "x"}])
def test_placeholders_and_values_must_match(values: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError):
        render(Layer.CONCLUDE, **values)


def test_the_prompt_is_the_same_each_time() -> None:
    assert system_prompt(environment="a") == system_prompt(environment="a")
