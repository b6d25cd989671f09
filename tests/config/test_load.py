"""Loading: precedence, sources, warnings with the nearest key, errors with their place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.privilege import without_privilege
from truepenny.config.load import Loaded, load
from truepenny.config.settings import Settings
from truepenny.errors import ConfigurationError


@dataclass
class Place:
    config: Path

    def write(self, text: str | bytes) -> Path:
        file = self.config / "truepenny.toml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(0o600)
        return file

    def load(self, env: Mapping[str, str] | None = None) -> Loaded:
        return load(self, env or {})

    def error(self, text: str | bytes, env: Mapping[str, str] | None = None) -> ConfigurationError:
        self.write(text)
        with pytest.raises(ConfigurationError) as caught:
            self.load(env)
        return caught.value


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_a_file_everything_is_the_default(tmp_path: Path) -> None:
    loaded = Place(tmp_path / "absent").load()
    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert loaded.file is None
    assert loaded.source("run.max_turns") == "default"
    assert not (tmp_path / "absent").exists()


def test_the_environment_beats_the_file_and_the_file_the_default(place: Place) -> None:
    file = place.write("[run]\nmax_turns = 7\ntimeout = 60\n")
    loaded = place.load({"TRUEPENNY_RUN__MAX_TURNS": "9"})
    assert (loaded.settings.run.max_turns, loaded.settings.run.timeout) == (9, 60.0)
    assert loaded.source("run.max_turns") == "environment TRUEPENNY_RUN__MAX_TURNS"
    assert loaded.source("run.timeout") == f"{file}:3:1"
    assert loaded.source("run.tool_timeout") == "default"


def test_a_named_file_is_used_and_must_exist(place: Place, tmp_path: Path) -> None:
    named = tmp_path / "other.toml"
    named.write_text("[run]\nmax_turns = 3\n", encoding="utf-8")
    assert place.load({"TRUEPENNY_CONFIG": str(named)}).settings.run.max_turns == 3
    home = {"HOME": str(tmp_path), "TRUEPENNY_CONFIG": "~/other.toml"}
    assert place.load(home).settings.run.max_turns == 3
    with pytest.raises(ConfigurationError) as caught:
        place.load({"TRUEPENNY_CONFIG": str(tmp_path / "gone.toml")})
    assert caught.value.where == str(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("text", "line", "nearest"),
    [
        ("[model]\ndefualt = 'x'\n", 2, "model.default"),
        ("[modle]\ndefault = 'x'\n", 1, "model"),
        ("max_turns = 3\n", 1, "run.max_turns"),
        ("[providers.a]\nwire = 'openai_chat'\napi-key = 'x'\n", 3, "providers.a.api_key"),
        (
            "[providers.a]\nmodels.m = { context_windw = 1 }\n",
            2,
            "providers.a.models.m.context_window",
        ),
        (
            "[[redact.rules]]\nname = 'a'\nanchor = 'ab'\npattern = 'b'\npatern = 'c'\n",
            5,
            "redact.rules[0].pattern",
        ),
    ],
)
def test_an_unknown_key_is_warned_about_with_the_nearest_and_its_place(
    place: Place, text: str, line: int, nearest: str
) -> None:
    file = place.write(text)
    (warning,) = place.load().warnings
    assert warning.where.startswith(f"{file}:{line}:")
    assert nearest in warning.remedy


def test_a_stray_variable_is_warned_about_and_foreign_ones_are_not(place: Place) -> None:
    env = {
        "TRUEPENNY_MODEL": "x",
        "TRUEPENNY_RUN__MAX_TURN": "3",
        "TRUEPENNY_HOME": "/x",
        "TRUEPENNY_CONFIG_DIR": "/x",
        "TRUEPENNY_PORT": "tcp://10.0.0.1:80",
        "TRUEPENNY_PORT_80_TCP": "tcp://10.0.0.1:80",
        "TRUEPENNY_SERVICE_HOST": "10.0.0.1",
    }
    found = {warning.where: warning.remedy for warning in place.load(env).warnings}
    assert set(found) == {"environment TRUEPENNY_MODEL", "environment TRUEPENNY_RUN__MAX_TURN"}
    assert "TRUEPENNY_RUN__MAX_TURNS" in found["environment TRUEPENNY_RUN__MAX_TURN"]


@pytest.mark.parametrize(
    ("text", "column", "key", "shown"),
    [
        ("[run]\nmax_turns = 'ten'\n", "2:1", "run.max_turns", "'ten'"),
        ("[run]\nmax_turns = 0\n", "2:1", "run.max_turns", "0"),
        ("[run]\nmax_turns = true\n", "2:1", "run.max_turns", "true"),
        ("[run]\nautonomy = 'wild'\n", "2:1", "run.autonomy", "'wild'"),
        ("[run]\n\ntimeout = inf\n", "3:1", "run.timeout", "inf"),
        ("[run]\ntimeout = nan\n", "2:1", "run.timeout", "nan"),
        ("run = 3\n", "1:1", "run", "3"),
        ("[model]\neffort = 'huge'\n", "2:1", "model.effort", "'huge'"),
        ("[providers.'a/b']\nwire='local'\n", "1:1", 'providers."a/b"', "'a/b'"),
        ("[providers.a]\nbase_url = 'host'\n", "2:1", "providers.a.base_url", "'host'"),
        (
            "[[redact.rules]]\nname = 'a'\nanchor = 'ab'\npattern = '('\n",
            "4:1",
            "redact.rules[0].pattern",
            "'('",
        ),
        (
            "[[redact.rules]]\nname = 'a'\nanchor = 'ab'\n",
            "1:1",
            "redact.rules[0].pattern",
            "missing",
        ),
        ("[redact]\nvalues = 'x'\n", "2:1", "redact.values", "[secret]"),
    ],
)
def test_a_wrong_value_names_key_place_and_value(
    place: Place, text: str, column: str, key: str, shown: str
) -> None:
    error = place.error(text)
    assert error.where.endswith(f"truepenny.toml:{column}")
    assert error.message.startswith(f"{key} ")
    assert shown in error.message
    assert error.exit_code == 3
    assert error.remedy


def test_all_wrong_values_are_told_at_once(place: Place) -> None:
    error = place.error("[run]\nmax_turns = 0\n", {"TRUEPENNY_RUN__TIMEOUT": "soon"})
    assert "run.max_turns" in str(error)
    assert "environment TRUEPENNY_RUN__TIMEOUT" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "[providers.a]\napi_key = ['hunter2-secret']\n",
        "[providers.a]\nheaders = { x-key = ['hunter2-secret'] }\n",
        "[providers]\nanthropic = 'hunter2-secret'\n",
        "[redact]\nvalues = 'hunter2-secret'\n",
        "[providers.a]\nbase_url = 'https://me:hunter2-secret@host/v1'\n",
        "[clusters]\na = 'hunter2-secret'\n",
    ],
)
def test_a_secret_is_in_no_error(place: Place, text: str) -> None:
    assert "hunter2" not in str(place.error(text))


def test_a_secret_is_in_no_warning_or_representation(place: Place) -> None:
    place.write("[providers.a]\napi_key = 'hunter2'\napikey = 'hunter2'\nheaders.x = 'hunter2'\n")
    loaded = place.load({"TRUEPENNY_REDACT__VALUES": "hunter2"})
    assert loaded.warnings
    assert "hunter2" not in repr(loaded)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[run]\nmax_turns 3\n", ":2:11"),
        ("[run\n", ":1:5"),
        ("a = 1\na = 2\n", ":2:"),
        ("a = 'x", ":1:7"),
        (b"a = 1\nb = '\xff'\n", ":2"),
    ],
)
def test_bad_toml_has_line_and_column(place: Place, text: str | bytes, where: str) -> None:
    error = place.error(text)
    assert where in error.where.removeprefix(str(place.config))


def test_an_oversized_file_is_refused(place: Place) -> None:
    assert "longer than" in place.error("#" * 1_100_000).message


def test_a_byte_order_mark_is_no_error(place: Place) -> None:
    place.write(b"\xef\xbb\xbf[run]\nmax_turns = 3\n")
    assert place.load().settings.run.max_turns == 3


def test_a_directory_in_the_files_place_is_an_error(place: Place) -> None:
    (place.config / "truepenny.toml").mkdir()
    with pytest.raises(ConfigurationError):
        place.load()


def test_an_unreadable_file_is_an_error_not_an_absence(place: Place) -> None:
    place.write("[run]\n").chmod(0)
    with without_privilege(), pytest.raises(ConfigurationError):
        place.load()


def test_a_literal_secret_in_a_readable_file_is_warned_about(place: Place) -> None:
    file = place.write("[providers.a]\napi_key = 'literal'\n")
    assert place.load().warnings == ()
    file.chmod(0o644)
    (warning,) = place.load().warnings
    assert "chmod 600" in warning.remedy
    file.write_text("[providers.a]\napi_key = 'env:KEY'\n", encoding="utf-8")
    assert place.load().warnings == ()


def test_environment_values_are_read_by_type(place: Place) -> None:
    place.write("[providers.my-vllm]\nwire = 'openai_chat'\nbase_url = 'http://h/v1'\n")
    env = {
        "TRUEPENNY_RUN__AUTONOMY": "full-auto",
        "TRUEPENNY_RUN__TIMEOUT": "1.5",
        "TRUEPENNY_REDACT__VALUES": "env:A, file:/b",
        "TRUEPENNY_REDACT__RULES": '[{"name": "a", "anchor": "ab", "pattern": "b", "extra": 1}]',
        "TRUEPENNY_PROVIDERS__MY_VLLM__API_KEY": "env:K",
        "TRUEPENNY_PROVIDERS__OTHER__MODELS": '{"q:8b": {"images": false}}',
        "TRUEPENNY_CLUSTERS__PROD__PRODUCTION": "true",
        "TRUEPENNY_MODEL__DEFAULT": "",
    }
    loaded = place.load(env)
    settings = loaded.settings
    assert settings.run.autonomy == "full-auto"
    assert settings.run.timeout == 1.5
    assert [value.get_secret_value() for value in settings.redact.values] == ["env:A", "file:/b"]
    assert settings.redact.rules[0].pattern == "b"
    assert settings.providers["my-vllm"].api_key is not None
    assert settings.providers["my-vllm"].base_url == "http://h/v1"
    assert settings.providers["other"].models["q:8b"].images is False
    assert settings.clusters["prod"].production is True
    assert settings.model.default is None
    assert [warning.where for warning in loaded.warnings] == ["environment TRUEPENNY_REDACT__RULES"]


def test_loading_costs_little_beside_pydantic() -> None:
    # Pydantic imports half of itself for the first model that anybody defines.
    script = (
        "import time, pathlib, types\n"
        "from pydantic import BaseModel, Field, SecretStr, field_validator\n"
        "type('First', (BaseModel,), {})\n"
        "begun = time.process_time()\n"
        "from truepenny.config.load import load\n"
        "load(types.SimpleNamespace(config=pathlib.Path('/nonexistent')), {})\n"
        "print(time.process_time() - begun)\n"
    )
    runs = [
        float(
            subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout
        )
        for _ in range(3)
    ]
    assert min(runs) < 0.06


@pytest.mark.parametrize(
    "text",
    [
        "[foo.bar]\nx = 1",
        "[[foo.bar]]\nx = 1\n[foo.bar.baz]",
        "[run.foo.bar]\nx = 1",
        "[redact.rulez.a]\nx = 1",
    ],
)
def test_an_unknown_table_below_another_is_warned_about(place: Place, text: str) -> None:
    file = place.write(text)
    [warning] = place.load().warnings
    assert warning.where == f"{file}:1:1"


@pytest.mark.parametrize(
    "text",
    [
        f"x = {'[' * 5000}{']' * 5000}",
        f"x = {'{a=' * 2000}1{'}' * 2000}",
        f"[run]\nmax_turns = {'9' * 5000}",
        f"[run]\nmax_turns = 0x{'f' * 5000}",
        '[[redact.rules]]\nname = "x"\nanchor = "ab"\npattern = "a{99999999999999999999}"',
        f'[[redact.rules]]\nname = "x"\nanchor = "ab"\npattern = "{"(" * 3000}{")" * 3000}"',
    ],
    ids=["arrays", "tables", "digits", "hexadecimal", "repetition", "groups"],
)
def test_what_the_parsers_themselves_give_up_on_is_a_settings_error(
    place: Place, text: str
) -> None:
    assert str(place.config) in place.error(text).where


def test_a_variable_nested_too_deeply_is_a_settings_error(place: Place) -> None:
    with pytest.raises(ConfigurationError) as caught:
        place.load({"TRUEPENNY_PROVIDERS__X__MODELS": "[" * 100_000})
    assert caught.value.where == "environment TRUEPENNY_PROVIDERS__X__MODELS"


def test_a_pipe_in_place_of_the_file_is_refused_and_not_waited_for(place: Place) -> None:
    os.mkfifo(place.config / "truepenny.toml")
    with pytest.raises(ConfigurationError) as caught:
        place.load()
    assert caught.value.where == str(place.config / "truepenny.toml")


@pytest.mark.parametrize("bracketed", [False, True])
def test_a_key_of_thousands_of_parts_is_only_an_unknown_key(place: Place, bracketed: bool) -> None:
    key = ".".join(["a"] * 3000)
    file = place.write(f"[{key}]" if bracketed else f"{key} = 1")
    [warning] = place.load().warnings
    assert warning.where == f"{file}:1:1"
