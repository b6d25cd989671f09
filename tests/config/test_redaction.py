"""The redactor of the settings: their values and rules beside the built-in ones."""

from __future__ import annotations

from typing import Any

import pytest

from truepenny.config.redaction import credential_values, redactor
from truepenny.config.settings import Settings
from truepenny.errors import ConfigurationError


def settings(**redact: Any) -> Settings:
    return Settings.model_validate({"redact": redact})


def test_values_rules_and_the_built_in_ones_hold_together() -> None:
    rule = {"name": "acme-token", "anchor": "acme_", "pattern": "acme_[0-9a-f]{8}"}
    made = redactor(settings(values=["env:PW", "blue"], rules=[rule]), {"PW": "correct horse"})
    text = "pw correct horse, blue, acme_0123abcd, https://me:hunter2hunter2@host/x"
    done = made.text(text)
    for secret in ("correct horse", "blue", "acme_0123abcd", "hunter2hunter2"):
        assert secret not in done.text
    assert done.counts["acme-token"] == 1


@pytest.mark.parametrize(
    ("value", "env"), [("abc", {}), ("env:SHORT", {"SHORT": "abc"}), ("env:GONE", {})]
)
def test_a_value_that_cannot_be_redacted_is_an_error(value: str, env: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        redactor(settings(values=[value]), env)
    assert "abc" not in str(caught.value)


def test_every_credential_is_known_and_one_that_is_not_set_is_not_there() -> None:
    made = Settings.model_validate(
        {
            "credentials": {
                "SHIP_TOKEN": {"value": "env:SHIP"},
                "DOCK_TOKEN": {"value": "blue"},
                "GONE_TOKEN": {"value": "env:GONE"},
            }
        }
    )
    done = redactor(made, {"SHIP": "correct horse"}).text("correct horse, blue")
    assert done.text == "[REDACTED:SHIP_TOKEN], [REDACTED:DOCK_TOKEN]"
    assert credential_values(made, {"SHIP": "x", "GONE": ""}) == {
        "SHIP_TOKEN": "x",
        "DOCK_TOKEN": "blue",
    }


@pytest.mark.parametrize("value", ["abc", "", "file:/nonexistent/token"])
def test_a_credential_that_cannot_be_redacted_is_an_error_with_its_field(value: str) -> None:
    made = Settings.model_validate({"credentials": {"SHIP_TOKEN": {"value": value}}})
    with pytest.raises(ConfigurationError) as caught:
        redactor(made, {})
    assert caught.value.where.startswith("credentials.SHIP_TOKEN.value")
    assert caught.value.remedy
    assert "abc" not in str(caught.value)
