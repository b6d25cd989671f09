"""Settings that would hand out what must stay are refused, each with its field and what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from truepenny.config.settings import Settings
from truepenny.errors import ConfigurationError
from truepenny.workspace.credential.binding import BUILT_IN, Binding, bind

ENV = {
    "ANTHROPIC_API_KEY": "sk-model-key",
    "OWN_KEY": "own-model-key",
    "SSL_CERT_FILE": "/etc/ssl/own.pem",
    "TRUEPENNY_MASTER_KEY": "master-key",
    "VALUE": "a-value",
}
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/tmp/home", "SHELLOPTS": "pipefail"}
OWN = {"HOME": "/home/ann", "TMPDIR": "/tmp/of-programs"}
SHIP = {"ship": {"argv": ["/bin/true"]}}


def bound(
    root: Path, credentials: dict[str, Any], programs: dict[str, Any] | None = None
) -> Binding:
    made = {
        "credentials": credentials,
        "programs": SHIP if programs is None else programs,
        "providers": {
            "own": {
                "base_url": "http://127.0.0.1:9",
                "api_key": "env:OWN_KEY",
                "headers": {"x-key": "header-key"},
            }
        },
    }
    return bind(Settings.model_validate(made), ENV, CLEAN, OWN, root)


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("TRUEPENNY_MASTER_KEY", "x-value", ""),
        ("ANTHROPIC_API_KEY", "x-value", ""),
        ("GROQ_API_KEY", "x-value", ""),
        ("OWN_KEY", "x-value", ""),
        ("T", "env:TRUEPENNY_MASTER_KEY", ".value"),
        ("T", "env:ANTHROPIC_API_KEY", ".value"),
        ("T", "sk-model-key", ".value"),
        ("T", "own-model-key", ".value"),
        ("T", "header-key", ".value"),
        ("PATH", "/x-value", ""),
        ("HOME", "/x-value", ""),
        ("LD_PRELOAD", "/x-value", ""),
        ("BASH_ENV", "/x-value", ""),
        ("PYTHONSTARTUP", "/x-value", ""),
        ("LC_ALL", "x-value", ""),
    ],
)
def test_what_never_reaches_a_program(tmp_path: Path, name: str, value: str, field: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        bound(tmp_path, {name: {"value": value}})
    assert caught.value.where == f"credentials.{name}{field}"
    assert caught.value.remedy
    if not value.startswith("env:"):
        assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "argv", "field"),
    [
        ("bash", ["/bin/true"], ""),
        ("python3", ["/bin/true"], ""),
        ("truepenny-credential", ["/bin/true"], ""),
        ("test", ["/bin/true"], ""),
        ("ship", ["./ship"], ".argv"),
        ("ship", ["{root}/ship"], ".argv"),
        ("ship", ["/bin/sh", "{root}/../{name}/ship"], ".argv"),
        ("ship", ["/bin/sh", "{root}/link"], ".argv"),
        ("ship", ["{root}/../link"], ".argv"),
    ],
)
def test_programs_that_commands_could_change_or_replace(
    tmp_path: Path, name: str, argv: list[str], field: str
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "ship").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "link").symlink_to("/bin/true")
    (tmp_path / "link").symlink_to(root / "ship")
    words = [word.format(root=root, name=root.name) for word in argv]
    with pytest.raises(ConfigurationError) as caught:
        bound(root, {}, {name: {"argv": words}})
    assert caught.value.where == f"programs.{name}{field}"
    assert caught.value.remedy


def test_a_credential_for_nobody_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        bound(tmp_path, {"T": {"value": "a-value"}}, {})
    assert caught.value.where == "credentials.T.tools"
    opened = bound(tmp_path, {"T": {"value": "a-value", "proxy_only": False}}, {})
    assert opened.split.lookup("T") == "a-value"


def test_each_program_has_a_home_of_ours_and_no_options_of_shells(tmp_path: Path) -> None:
    made = bound(tmp_path, {"T": {"value": "env:VALUE", "tools": ["ship"]}})
    assert made.split.environment("ship") == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/ann",
        "TMPDIR": "/tmp/of-programs",
        "SSL_CERT_FILE": "/etc/ssl/own.pem",
        "T": "a-value",
    }
    assert made.split.model == {**CLEAN, "TRUEPENNY_SANDBOXED": "1"}
    assert made.absent == {}


def test_what_is_not_set_is_named_for_each_program(tmp_path: Path) -> None:
    programs = {"ship": {"argv": ["/bin/true"]}, "dock": {"argv": ["/bin/true"]}}
    credentials = {
        "A": {"value": "env:GONE", "tools": ["ship"]},
        "B": {"value": "env:GONE"},
        "C": {"value": "env:VALUE"},
    }
    made = bound(tmp_path, credentials, programs)
    assert made.absent == {"ship": ("A", "B"), "dock": ("B",)}


def test_a_home_that_commands_may_write_is_no_home_of_programs(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        bind(
            Settings.model_validate({"programs": SHIP}), ENV, CLEAN, {"HOME": "/w/home"}, Path("/w")
        )
    assert caught.value.where == "programs"
    (tmp_path / "work").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "work")
    linked = {"HOME": str(tmp_path / "home")}
    with pytest.raises(ConfigurationError):
        bind(Settings.model_validate({"programs": SHIP}), ENV, CLEAN, linked, tmp_path / "work")


def test_what_is_built_into_bash_is_known() -> None:
    done = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True)
    named = {word for word in done.stdout.split() if word.isalnum()}
    assert named <= BUILT_IN
