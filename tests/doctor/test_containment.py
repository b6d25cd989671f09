"""What holds commands is tried for real, and what is not held is never called fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.doctor import containment, execution
from truepenny.doctor.check import Finding, Level
from truepenny.sandbox.choice import PROBES
from truepenny.sandbox.level import Level as Held
from truepenny.sandbox.probe import Probe

from .test_checks import surroundings

pytestmark = pytest.mark.anyio


def levels(found: list[Finding]) -> set[Level]:
    return {one.level for one in found}


async def test_a_machine_that_can_hold_commands_says_by_what_and_as_whom(tmp_path: Path) -> None:
    around = surroundings(tmp_path)
    assert Level.FAIL not in levels(await containment.sandbox(around))
    (who,) = await containment.account(around)
    assert who.level is Level.OK
    assert "uid 0" not in who.detail


async def test_none_is_a_warning_wherever_it_was_chosen(tmp_path: Path) -> None:
    found = await containment.sandbox(surroundings(tmp_path, '[sandbox]\nlevel = "none"\n'))
    assert found[-1].level is Level.WARN
    assert "none" in found[-1].detail
    assert found[-1].remedy


async def test_a_machine_that_can_hold_nothing_fails_with_every_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for level in (Held.BWRAP, Held.LANDLOCK):
        probe = Probe(level, False, "refused here", f"Allow {level}.")
        monkeypatch.setitem(PROBES, level, lambda account, probe=probe: probe)
    last = (await containment.sandbox(surroundings(tmp_path)))[-1]
    assert last.level is Level.FAIL
    assert last.remedy == "Allow bwrap. Allow landlock."


async def test_a_named_level_that_does_not_work_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = Probe(Held.BWRAP, False, "no namespaces", "Allow them.")
    monkeypatch.setitem(PROBES, Held.BWRAP, lambda account: probe)
    found = await containment.sandbox(surroundings(tmp_path, '[sandbox]\nlevel = "bwrap"\n'))
    assert found[-1].level is Level.FAIL


async def test_limits_leave_nothing_behind(tmp_path: Path) -> None:
    def groups() -> set[Path]:
        return set(Path("/sys/fs/cgroup").glob("**/truepenny-*"))

    before = groups()
    found = await containment.limits(surroundings(tmp_path))
    assert levels(found) <= {Level.OK, Level.WARN}
    assert groups() <= before


async def test_the_network_of_commands_is_named(tmp_path: Path) -> None:
    (found,) = await containment.network(surroundings(tmp_path))
    assert (found.level, found.detail) == (Level.OK, "commands have no network")
    toml = '[sandbox]\nnetwork = "proxy"\n'
    (found,) = await containment.network(surroundings(tmp_path, toml))
    assert found.level is Level.WARN
    (found,) = await containment.network(
        surroundings(tmp_path, f'{toml}allow_hosts = ["example.com:443"]\n')
    )
    assert (found.level, "example.com:443" in found.detail) == (Level.OK, True)
    (found,) = await containment.network(surroundings(tmp_path, '[sandbox]\nnetwork = "host"\n'))
    assert found.level is Level.WARN


async def test_what_runs_commands_and_files_is_run(tmp_path: Path) -> None:
    around = surroundings(tmp_path)
    for check in (execution.shell, execution.ripgrep, execution.tool_server):
        assert levels(await check(around)) == {Level.OK}


async def test_a_machine_without_bash_is_not_fine(tmp_path: Path) -> None:
    around = surroundings(tmp_path, PATH=str(tmp_path))
    (found,) = await execution.shell(around)
    assert found.level in (Level.WARN, Level.FAIL)
    assert found.remedy
