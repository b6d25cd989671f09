from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from truepenny.errors import CouldNotRun
from truepenny.sandbox import probe
from truepenny.sandbox.account import account_for
from truepenny.sandbox.bwrap.program import BwrapProgram
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.level import Containment, Level
from truepenny.sandbox.plan import Account
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.descendants import adopt_orphans, children


@pytest.fixture
def account(folder: Path) -> Iterator[Account]:
    probe.working_bwrap.cache_clear()
    yield account_for(folder, None)
    probe.working_bwrap.cache_clear()


FAKE = """#!/bin/bash
for word; do
  [ "$word" != --disable-userns ] || { echo "bwrap: not when setuid" >&2; exit 1; }
  [ "$before" != --json-status-fd ] || status=$word
  before=$word
done
echo '{ "exit-code": 0 }' >&"$status"
"""
"""A bubblewrap that reports the end of a program, unless it is asked to forbid namespaces."""


class Standing(Sandbox):
    """Starts the words it is given."""

    def __init__(self, account: Account, *words: str) -> None:
        super().__init__(probe.probe_plan(account), Containment())
        self._words = words

    def confine(self, cwd: Path | None = None) -> Confinement:
        return Confinement(Containment(), lambda program: (*self._words, *program), None)


class Refusing(Standing):
    def confine(self, cwd: Path | None = None) -> Confinement:
        raise CouldNotRun("it cannot be", remedy="Do this.")


def test_a_start_that_ends_well_works(account: Account) -> None:
    assert probe.try_start(Standing(account, "/usr/bin/env")) is None


def test_a_start_that_ends_badly_says_how(account: Account) -> None:
    failed = probe.try_start(Standing(account, "/bin/false"))
    assert failed == probe.Failed("`true` ended with 1")


def test_a_start_that_cannot_be_says_why(account: Account) -> None:
    failed = probe.try_start(Standing(account, "/no/such/program"))
    assert failed is not None
    assert "No such file" in failed.why
    assert probe.try_start(Refusing(account)) == probe.Failed("it cannot be", "Do this.")


def test_bubblewrap_is_tried_for_real_and_once(account: Account) -> None:
    found, program = probe.working_bwrap(account)
    assert found.level is Level.BWRAP
    assert found.works is (program is not None)
    assert found.works is not bool(found.remedy)
    assert probe.working_bwrap(account)[0] is found


def test_a_bubblewrap_that_does_not_work_is_said_with_its_words(
    account: Account, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    fake = folder / "bwrap"
    line = "bwrap: setting up uid map: Permission denied"
    fake.write_text(f"#!/bin/sh\necho '{line}' >&2; exit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    broken = BwrapProgram(str(fake), (0, 9, 0), True, True, True)
    monkeypatch.setattr(probe, "installed", lambda: broken)
    found, program = probe.working_bwrap(account)
    assert program is None
    assert found.detail == f"bubblewrap 0.9.0: {line}"
    assert "namespaces" in found.remedy


def test_a_bubblewrap_that_cannot_forbid_namespaces_works_and_says_so(
    account: Account, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    fake = folder / "bwrap"
    fake.write_text(FAKE, encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(
        probe, "installed", lambda: BwrapProgram(str(fake), (0, 9, 0), True, True, True)
    )
    found, program = probe.working_bwrap(account)
    assert found.works
    assert found.detail.endswith("cannot forbid further namespaces here: bwrap: not when setuid")
    assert program is not None
    assert not program.forbids_namespaces
    assert [fault.partition(":")[0] for fault in found.faults] == ["CVE-2026-87766"]


def test_without_bubblewrap_it_says_how_to_get_it(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "installed", lambda: None)
    found, program = probe.working_bwrap(account)
    assert program is None
    assert "Install bubblewrap" in found.remedy


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [("APPARMOR", "1", "AppArmor"), ("NAMESPACES", "0", "max_user_namespaces")],
)
def test_a_switch_of_the_machine_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, word: str
) -> None:
    for switch in ("APPARMOR", "NAMESPACES"):
        monkeypatch.setattr(probe, switch, tmp_path / switch)
    (tmp_path / name).write_text(f"{value}\n", encoding="ascii")
    assert word in probe._remedy("bwrap: whatever")


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are handed over on Linux alone")
def test_a_trial_leaves_no_child_behind(account: Account) -> None:
    # Bubblewrap's first process ends after what we started, and comes to us where we take orphans.
    assert adopt_orphans()
    before = set(children(os.getpid()))
    words = ("sh", "-c", "sleep 0.01 & exec setsid true", "true")
    for _ in range(10):
        assert probe.try_start(Standing(account, *words)) is None
        probe.working_bwrap.cache_clear()
        probe.working_bwrap(account)
        assert set(children(os.getpid())) <= before
