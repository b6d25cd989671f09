from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from truepenny.conformance.profile import Profile, chosen_tool, profiles, read_profile
from truepenny.errors import ConfigurationError


def schema(**properties: str) -> dict[str, Any]:
    return {"properties": {name: {"type": kind} for name, kind in properties.items()}}


def test_the_shipped_profiles_name_servers_that_are_theirs_alone() -> None:
    known = profiles()
    names = [name for profile in known.values() for name in profile.servers]
    assert names
    assert len(set(names)) == len(names)
    assert all(profile.servers for profile in known.values())


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ({"run": schema(command="string")}, ("run", "command", "line", None, None)),
        (
            {"read": schema(path="string"), "bash": schema(cmd="string", cwd="string")},
            ("bash", "cmd", "line", "cwd", None),
        ),
        (
            {"execute": schema(script="array", timeout_ms="integer", workdir="string")},
            ("execute", "script", "argv", "workdir", "timeout_ms"),
        ),
        ({"a": schema(code="string", timeout="number")}, ("a", "code", "line", None, "timeout")),
    ],
)
def test_a_server_that_is_not_known_is_called_by_its_schema(
    tools: dict[str, Any], expected: tuple[str | None, ...]
) -> None:
    made = chosen_tool(Profile(), tools)
    assert (made.tool, made.command, made.form, made.directory, made.timeout) == expected
    assert made.unit == ("ms" if made.timeout == "timeout_ms" else "s")
    assert made.wrap == (("bash", "-c") if made.form == "argv" else ())


@pytest.mark.parametrize(
    ("profile", "tools"),
    [
        (Profile(), {}),
        (Profile(), {"read": schema(path="string")}),
        (Profile(tool="gone"), {"run": schema(command="string")}),
        (Profile(tool="run", command="line"), {"run": schema(command="string")}),
    ],
)
def test_a_server_that_takes_no_command_is_refused(profile: Profile, tools: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        chosen_tool(profile, tools)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "format = 2",
        "format = 1\ntoool = 'x'",
        "format = 1\n[words]\nexit_code = ['(']",
        "=",
        "format = 1\ndirectory_tool = 'cd'",
    ],
)
def test_a_profile_that_says_something_else_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        read_profile(path)
