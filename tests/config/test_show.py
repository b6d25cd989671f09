"""The effective settings as rows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from truepenny.config.load import load
from truepenny.config.schema import dotted_keys
from truepenny.config.show import NOT_SET, effective


@dataclass
class Place:
    config: Path


def rows(
    tmp_path: Path, text: str, env: dict[str, str] | None = None
) -> dict[str, tuple[str, str]]:
    (tmp_path / "truepenny.toml").write_text(text, encoding="utf-8")
    loaded = load(Place(tmp_path), env or {})
    return {row.key: (row.value, row.source) for row in effective(loaded)}


def test_every_key_has_a_row_with_value_and_source(tmp_path: Path) -> None:
    found = rows(tmp_path, "[run]\nmax_turns = 3\n", {"TRUEPENNY_OUTPUT__MAX_BYTES": "2048"})
    fixed = {key for key, _ in dotted_keys() if "<name>" not in key}
    assert fixed <= set(found)
    assert found["run.max_turns"] == ("3", f"{tmp_path}/truepenny.toml:2:1")
    assert found["output.max_bytes"] == ("2048", "environment TRUEPENNY_OUTPUT__MAX_BYTES")
    assert found["model.default"] == (NOT_SET, "default")


def test_secrets_are_masked_and_references_shown(tmp_path: Path) -> None:
    text = """
[providers.a]
wire = "openai_chat"
api_key = "hunter2"
headers = { x-one = "hunter2", x-two = "env:TWO" }
models."q:8b" = { extra_body = { a = 1 } }
[redact]
values = ["hunter2", "file:/k"]
"""
    found = rows(tmp_path, text)
    assert "hunter2" not in str(found)
    assert found["providers.a.headers.x-two"][0] == '"env:TWO"'
    assert found["redact.values"][0] == '["[secret]", "file:/k"]'
    assert found['providers.a.models."q:8b".extra_body'][0] == '{"a": 1}'
    assert not any(value == NOT_SET for key, (value, _) in found.items() if "providers" in key)


def test_shown_values_are_toml(tmp_path: Path) -> None:
    text = '[[redact.rules]]\nname = "a"\nanchor = "ab"\npattern = "b\\\\d"\n'
    found = rows(tmp_path, text)
    assert tomllib.loads(f"x = {found['redact.rules'][0]}") == {
        "x": [{"name": "a", "anchor": "ab", "pattern": "b\\d"}]
    }
