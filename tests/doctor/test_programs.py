"""What longer work needs is started for real; what is missing or broken is never called fine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doctor.test_checks import surroundings
from truepenny.doctor import programs
from truepenny.doctor.check import Level

pytestmark = pytest.mark.anyio


@pytest.fixture
def stand_ins() -> Iterator[Path]:
    """A folder of programs that the account of commands can reach where nothing holds it."""
    with tempfile.TemporaryDirectory(prefix="truepenny-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def put(folder: Path, name: str, status: int) -> None:
    (folder / name).write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


async def test_commands_in_the_background_are_followed_and_stopped(tmp_path: Path) -> None:
    (found,) = await programs.background(surroundings(tmp_path))
    assert found.level is Level.OK
    toml = "[workspace]\nbackground = 1\n"
    assert (await programs.background(surroundings(tmp_path, toml)))[0].level is Level.OK
    toml = "[workspace]\nbackground = 0\n"
    assert (await programs.background(surroundings(tmp_path, toml)))[0].level is Level.SKIP


async def test_each_interpreter_runs_an_empty_script(tmp_path: Path) -> None:
    found = await programs.interpreters(surroundings(tmp_path))
    assert found[0].level is Level.OK
    assert {"bash", "sh"} <= set(found[0].detail.split(", "))


async def test_an_interpreter_that_is_broken_is_named(tmp_path: Path, stand_ins: Path) -> None:
    put(stand_ins, "julia", 3)
    path = f"{stand_ins}{os.pathsep}{os.defpath}"
    found = await programs.interpreters(
        surroundings(tmp_path, '[sandbox]\nlevel = "none"\n', PATH=path)
    )
    broken = [one for one in found if one.level is Level.WARN]
    assert [one.detail for one in broken] == ["julia is there and does not run an empty script"]
    assert broken[0].remedy


async def test_programs_of_checks_are_started_or_said_to_be_missing(
    tmp_path: Path, stand_ins: Path
) -> None:
    put(stand_ins, "node", 0)
    put(stand_ins, "chrome", 1)
    path = f"{stand_ins}{os.pathsep}{os.defpath}"
    toml = '[sandbox]\nlevel = "none"\n'
    found = await programs.project_checks(surroundings(tmp_path, toml, PATH=path))
    said = {(one.level, one.detail.split()[0]) for one in found}
    assert (Level.WARN, "chrome") in said
    assert any(one.level is Level.OK and "node" in one.detail for one in found)
    assert not any("no node" in one.detail or "no browser" in one.detail for one in found)


async def test_what_takes_too_long_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "PROBE_SECONDS", 0.0)
    (found,) = await programs.interpreters(surroundings(tmp_path))
    assert found.level is Level.UNKNOWN
