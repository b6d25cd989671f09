"""Credentials and programs are looked at without running one, and a held command asks for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.world import LEVELS
from truepenny.doctor import execution
from truepenny.doctor.check import Level
from truepenny.doctor.credentials import credentials
from truepenny.errors import ConfigurationError

from .test_checks import surroundings

pytestmark = pytest.mark.anyio


async def test_nothing_set_is_nothing_to_look_at(tmp_path: Path) -> None:
    (found,) = await credentials(surroundings(tmp_path))
    assert found.level is Level.SKIP


@pytest.mark.parametrize("level", LEVELS)
async def test_all_of_it_is_tried_and_no_program_runs(tmp_path: Path, level: str) -> None:
    ship = tmp_path / "ship"
    ship.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    ship.chmod(0o755)
    toml = f"""
        sandbox.level = "{level}"
        programs.ship.argv = ["{ship}"]
        credentials.SHIP_TOKEN.value = "env:GIVEN"
    """
    found = await credentials(surroundings(tmp_path, toml, GIVEN="a-value-of-it"))
    assert [one.level for one in found[:-1]] == [Level.OK, Level.OK]
    if level == "landlock":
        assert found[-1].level is Level.WARN
        assert "landlock" in found[-1].detail
    else:
        assert (found[-1].level, "reaches the proxy" in found[-1].detail) == (Level.OK, True)
    assert not (tmp_path / "ran").exists()
    assert not any("a-value-of-it" in one.detail for one in found)


async def test_what_is_missing_is_named_with_what_to_do(tmp_path: Path) -> None:
    toml = """
        programs.ship.argv = ["/nonexistent/ship"]
        credentials.SHIP_TOKEN.value = "env:GIVEN"
    """
    found = await credentials(surroundings(tmp_path, toml))
    failed = [one for one in found if one.level is Level.FAIL]
    assert [one.remedy for one in failed] == [
        "Set GIVEN.",
        "Install it, or correct programs.ship.argv.",
    ]


async def test_settings_that_cannot_be_followed_fail_with_their_field(tmp_path: Path) -> None:
    toml = 'programs.ship.argv = ["true"]\ncredentials.SHIP_TOKEN.value = "env:OPENAI_API_KEY"\n'
    around = surroundings(tmp_path, toml, OPENAI_API_KEY="sk-a-model-key")
    with pytest.raises(ConfigurationError) as caught:
        await credentials(around)
    assert caught.value.where == "credentials.SHIP_TOKEN.value"
    assert "sk-a-model-key" not in str(caught.value)
    (server,) = await execution.tool_server(around)
    assert server.level is Level.OK  # it has no part in it


async def test_settings_that_cannot_be_read_are_unknown(tmp_path: Path) -> None:
    (found,) = await credentials(surroundings(tmp_path, "credentials = 1\n"))
    assert found.level is Level.UNKNOWN
