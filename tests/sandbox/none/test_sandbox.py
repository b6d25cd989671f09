from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sandbox.inside import ENV, make_file, plan_of, run, shell
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.confinement import Refused
from truepenny.sandbox.level import Level


@pytest.mark.parametrize("code", [0, 1, 125, 126, 127, 137, 255])
def test_exit_codes_pass_through(folder: Path, code: int) -> None:
    ended = shell(open_sandbox(plan_of(folder), "none"), f"exit {code}")
    assert (ended.code, ended.verdict) == (code, None)


def test_a_signal_stays_a_signal(folder: Path) -> None:
    assert shell(open_sandbox(plan_of(folder), "none"), "kill -KILL $$").code == -9


def test_it_is_never_root_and_gains_nothing(folder: Path) -> None:
    plan = plan_of(folder)
    line = "id -u; grep -E '^(NoNewPrivs|CapEff|CapBnd|Groups):' /proc/self/status"
    out = shell(open_sandbox(plan, "none"), line).out.splitlines()
    assert out[0] == str(plan.account.uid) != "0"
    if plan.account.drop:
        words = dict(line.split(":", 1) for line in out[1:])
        assert {name: value.strip() for name, value in words.items()} == {
            "NoNewPrivs": "1",
            "CapEff": "0" * 16,
            "CapBnd": "0" * 16,
            "Groups": "",
        }


def test_it_runs_in_the_workspace_and_is_in_its_group(folder: Path) -> None:
    sandbox = open_sandbox(plan_of(folder), "none")
    assert shell(sandbox, "pwd").out.strip() == str(folder)
    confinement = sandbox.confine()
    assert confinement.containment.level is Level.NONE
    assert confinement.group is None or confinement.group.members() == ()
    confinement.close()


def test_a_program_that_is_missing_never_started(folder: Path) -> None:
    verdict = run(open_sandbox(plan_of(folder), "none"), "no-such-program").verdict
    assert verdict is not None
    assert verdict.why is Refused.MISSING
    assert "no-such-program" in verdict.message


def test_a_file_that_is_no_program_never_started(folder: Path) -> None:
    plain = make_file(folder / "plain", "text")
    verdict = run(open_sandbox(plan_of(folder), "none"), str(plain)).verdict
    assert verdict is not None
    assert verdict.why is Refused.NOT_EXECUTABLE


def test_a_proxy_cannot_be_the_only_way_out(folder: Path) -> None:
    with pytest.raises(CouldNotRun, match="cannot be bounded"):
        open_sandbox(plan_of(folder, network="proxy"), "none").confine()


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "GLIBC_TUNABLES"])
def test_variables_that_would_act_as_root_are_refused(folder: Path, name: str) -> None:
    plan = plan_of(folder)
    confinement = open_sandbox(plan, "none").confine()
    env = {**ENV, name: "/no/such/file"}
    if plan.account.drop:
        with pytest.raises(ConfigurationError, match=name):
            confinement.environment(env)
    else:
        assert confinement.environment(env) == env
    confinement.close()


def test_close_leaves_nothing(folder: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    sandbox = open_sandbox(plan_of(folder), "none")
    for argv in (("true",), ("no-such-program",)):
        run(sandbox, *argv)
    assert set(os.listdir("/proc/self/fd")) == before
