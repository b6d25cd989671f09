from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.inside import plan_of, shell
from truepenny.errors import CouldNotRun
from truepenny.sandbox import choice
from truepenny.sandbox.level import Level
from truepenny.sandbox.plan import Account
from truepenny.sandbox.probe import Probe


def refusing(level: Level) -> object:
    def probe(account: Account) -> Probe:
        return Probe(level, False, f"{level} said no", f"Repair {level}.")

    return probe


def refuse(monkeypatch: pytest.MonkeyPatch, *levels: Level) -> None:
    for level in levels:
        monkeypatch.setitem(choice.PROBES, level, refusing(level))


def test_auto_takes_the_strongest_that_works(folder: Path) -> None:
    plan = plan_of(folder)
    works = [level for level in choice.ORDER if choice.PROBES[level](plan.account).works]
    sandbox = choice.open_sandbox(plan, "auto")
    assert sandbox.containment.level is works[0]
    assert shell(sandbox, "exit 7").code == 7


def test_auto_takes_the_next_where_namespaces_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(folder)
    refuse(monkeypatch, Level.BWRAP)
    if choice.PROBES[Level.LANDLOCK](plan.account).works:
        assert choice.open_sandbox(plan, "auto").containment.level is Level.LANDLOCK
    else:
        with pytest.raises(CouldNotRun, match="landlock"):
            choice.open_sandbox(plan, "auto")


def test_auto_never_takes_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, *choice.ORDER)
    with pytest.raises(CouldNotRun) as refused:
        choice.open_sandbox(plan_of(folder), "auto")
    for level in choice.ORDER:
        assert f"{level} said no" in refused.value.message
        assert f"Repair {level}." in refused.value.remedy


@pytest.mark.parametrize("level", choice.ORDER)
def test_a_named_level_is_never_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    refuse(monkeypatch, level)
    with pytest.raises(CouldNotRun, match=f"{level} said no") as refused:
        choice.open_sandbox(plan_of(folder), level.value)
    assert refused.value.where == "sandbox.level"


def test_none_is_taken_where_a_person_says_so(folder: Path) -> None:
    containment = choice.open_sandbox(plan_of(folder), "none").containment
    assert (containment.level, containment.network) == (Level.NONE, "host")
    assert "files" in containment.gaps


def test_a_workspace_that_the_account_cannot_enter_is_refused(folder: Path) -> None:
    plan = plan_of(folder)
    closed = folder / "closed"
    closed.mkdir(mode=0o700 if plan.account.drop else 0o000)
    with pytest.raises(CouldNotRun, match="cannot enter"):
        choice.open_sandbox(replace(plan, cwd=closed), "none")
    closed.chmod(0o700)
