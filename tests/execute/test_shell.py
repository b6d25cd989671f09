"""Shell lines by a real bash: statuses, signals, and what stays unknown."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from truepenny.execute.command import CaptureLimits
from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification
from truepenny.execute.shell import (
    FALLBACK,
    NO_BASH,
    classify_line,
    clean_of_startup,
    line_command,
    run_line,
    with_pipefail,
)

pytestmark = pytest.mark.anyio

ENV = {"PATH": os.defpath}


async def ran(line: str, **changes: object) -> tuple[Execution, Classification]:
    changes.setdefault("env", ENV)
    execution = await run_line(line_command(line, timeout=30.0, **changes))  # type: ignore[arg-type]
    return execution, classify_line(execution, line)


@pytest.mark.parametrize(
    ("line", "observed", "effective", "stages", "outcome"),
    [
        ("true", 0, 0, None, Outcome.SUCCESS),
        ("exit 3", 3, 3, None, Outcome.TARGET_FAILED),
        ("true | true", 0, 0, (0, 0), Outcome.SUCCESS),
        ("false | true", 1, 1, (1, 0), Outcome.UPSTREAM_FAILED),
        ("(exit 4) | (exit 5) | true", 5, 5, (4, 5, 0), Outcome.UPSTREAM_FAILED),
        ("true | (exit 9)", 9, 9, (0, 9), Outcome.TARGET_FAILED),
        ("set -e; false | true; echo no", 1, 1, None, Outcome.TARGET_FAILED),
        ("true && false | true", 1, 1, (1, 0), Outcome.UPSTREAM_FAILED),
        ("set +o pipefail; false | true", 0, 0, (1, 0), Outcome.UPSTREAM_FAILED),
        ("set +o pipefail; yes | head -1", 0, 0, (141, 0), Outcome.SUCCESS),
        ("set -euo pipefail; echo a | grep b", 1, 1, (0, 1), Outcome.NO_MATCH),
        # Reading stops on purpose.
        ("yes | head -n 1", 141, 0, (141, 0), Outcome.SUCCESS),
        ("yes | cat | head -n 1", 141, 0, (141, 141, 0), Outcome.SUCCESS),
        ("yes | grep -q y", 141, 0, (141, 0), Outcome.SUCCESS),
        ("yes | grep -m1 y", 141, 0, (141, 0), Outcome.SUCCESS),
        ("yes | sed 3q", 141, 0, (141, 0), Outcome.SUCCESS),
        # Or not: whoever reads only a part of it was to read all.
        ("yes | dd count=1 of=/dev/null 2>&1", 141, 141, (141, 0), Outcome.UPSTREAM_FAILED),
        ("(yes; exit 3) | head -n 1", 3, 3, (3, 0), Outcome.UPSTREAM_FAILED),
        # The last stage was writing to nobody: what is there is a beginning.
        ("true | (exit 141)", 141, 141, (0, 141), Outcome.TRUNCATED),
        ("kill -PIPE $$", None, None, None, Outcome.TRUNCATED),
        # Nothing found, by the program of the last stage.
        ("grep x /dev/null", 1, 1, None, Outcome.NO_MATCH),
        ("echo a | grep b", 1, 1, (0, 1), Outcome.NO_MATCH),
        ("yes n | head -n 3 | grep b", 1, 1, (141, 0, 1), Outcome.NO_MATCH),
        ("grep x /no/such/file", 2, 2, None, Outcome.TARGET_FAILED),
        ("test 1 = 2", 1, 1, None, Outcome.NO_MATCH),
        ("[ 1 = 2 ]", 1, 1, None, Outcome.NO_MATCH),
        ("[[ a == b ]]", 1, 1, None, Outcome.NO_MATCH),
        ("cd /; pgrep -x no-such-name-here", 1, 1, None, Outcome.NO_MATCH),
        ("cd / && echo a | grep b", 1, 1, (0, 1), Outcome.NO_MATCH),
        ("cd / && yes | head -n 1", 141, 0, (141, 0), Outcome.SUCCESS),
        # Whose code it is nobody saw.
        ("cd /no/such && grep x /dev/null", 1, 1, None, Outcome.TARGET_FAILED),
        ("cd /no/such && echo a | grep b", 1, 1, None, Outcome.TARGET_FAILED),
        ("set -e; false; grep x /dev/null", 1, 1, None, Outcome.TARGET_FAILED),
        ("yes | dd count=1 of=/dev/null 2>&1 && true | head", 141, 141, None, Outcome.TRUNCATED),
        ("grep x /dev/null; (exit 1)", 1, 1, None, Outcome.TARGET_FAILED),
        ("cmp /dev/null /etc/passwd", 1, 1, None, Outcome.TARGET_FAILED),
        # A shell's own answers.
        ("no-such-program-here", 127, 127, None, Outcome.MISSING_DEPENDENCY),
        ("true | no-such-program-here", 127, 127, (0, 127), Outcome.MISSING_DEPENDENCY),
        ("no-such-program-here | true", 127, 127, (127, 0), Outcome.UPSTREAM_FAILED),
        ("/etc/passwd", 126, 126, None, Outcome.NOT_EXECUTABLE),
    ],
)
async def test_what_a_line_comes_to(
    line: str,
    observed: int | None,
    effective: int | None,
    stages: tuple[int, ...] | None,
    outcome: Outcome,
) -> None:
    execution, meaning = await ran(line)
    found = execution.exit
    assert (found.observed, found.effective, found.stages) == (observed, effective, stages)
    assert meaning.outcome is outcome


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("false | true; echo done", 0),
        ("false | true; exit 7", 7),
        ("false | true || true", 0),
        ("if false | true; then :; fi", 0),
        ("! false | true", 0),
        ("(false | true)", 1),
        ("exec false | true & wait $!", 1),
        ("trap 'exit 6' EXIT; false | true", 6),
        ("false | true\nexec true", 0),
        ("true | )", 2),
        ("cat <<X | wc -c\nhi", 0),
    ],
)
async def test_what_is_not_the_end_of_the_line_stays_unknown(line: str, code: int) -> None:
    execution, _ = await ran(line)
    assert (execution.exit.observed, execution.exit.stages) == (code, None)


async def test_a_note_says_which_stage_was_excused() -> None:
    execution, _ = await ran("yes | head -n 1")
    assert execution.excused == (0,)
    assert execution.remarks == (
        "yes: ended by SIGPIPE because the next stage stops reading on purpose; no fault",
    )
    assert (await ran("true | head -n 1"))[0].remarks == ()


async def test_messages_are_those_of_the_line_alone() -> None:
    execution, _ = await ran("true | )")
    assert execution.stderr.text == (
        "bash: -c: line 1: syntax error near unexpected token `)'\nbash: -c: line 1: `true | )'\n"
    )
    execution, _ = await ran("set -x; true | true")
    assert sorted(execution.stderr.text.splitlines()) == ["+ true", "+ true"]
    execution, _ = await ran("trap 'echo step' DEBUG; true | true")
    assert execution.stdout.text == "step\nstep\n"


async def test_nothing_of_ours_is_in_sight_of_the_line() -> None:
    execution, _ = await ran("env | cut -d= -f1 | sort | tr '\\n' ' '")
    assert execution.stdout.text.split() == ["PATH", "PWD", "SHLVL", "TRUEPENNY_RUN", "_"]
    execution, _ = await ran('echo "$0 $# $-" | cat; echo ${!BASH_EN*}')
    assert execution.stdout.text == "bash 0 hBc\n\n"


async def test_a_stage_cannot_report_for_the_shell() -> None:
    # It writes to every descriptor it has.
    forge = "for f in /proc/self/fd/*; do head -c 200000 /dev/zero >$f; done 2>/dev/null"
    execution, _ = await ran(f"({forge}; exit 4) | (cat >/dev/null; exit 0)")
    assert execution.cause is None
    assert execution.exit.observed == 4
    assert execution.exit.stages in (None, (4, 0))


async def test_a_program_alone_is_seen_to_die_by_its_signal() -> None:
    execution, meaning = await ran("kill -9 $$")
    assert (execution.exit.observed, execution.exit.signal) == (None, signal.SIGKILL)
    assert meaning.outcome is Outcome.INTERRUPTED
    execution, meaning = await ran("true | sh -c 'kill -9 $$'")
    assert (execution.exit.observed, execution.exit.signal) == (137, None)
    # Of a stage only the shell's word is known, which a program can say as well.
    assert (meaning.outcome, meaning.reason) == (Outcome.TARGET_FAILED, "exit_137_or_signal_9")


async def test_startup_variables_reach_no_shell(tmp_path: Path) -> None:
    file = tmp_path / "startup"
    file.write_text("echo started; exit 5\n", encoding="utf-8")
    env = {
        **ENV,
        "BASH_ENV": str(file),
        "ENV": str(file),
        "SHELLOPTS": "noexec",
        "BASHOPTS": "extdebug",
        "PS4": "$(echo no)",
        "BASH_FUNC_true%%": "() { echo shadowed; }",
    }
    assert clean_of_startup(env) == ENV
    for line in ("true; echo ok", "true | cat; echo ok"):
        execution, _ = await ran(line, env=env)
        assert (execution.exit.observed, execution.stdout.text) == (0, "ok\n")


async def test_programs_that_start_shells_get_pipefail_by_the_environment() -> None:
    env = with_pipefail({**ENV, "BASH_ENV": "/no/such"})
    execution, _ = await ran("bash -c 'false | true'; echo $?", env=ENV)
    assert execution.stdout.text == "0\n"
    from truepenny.execute.command import Command
    from truepenny.execute.process import run

    done = await run(Command(("bash", "-c", "false | true"), env))
    assert done.exit.observed == 1


async def test_without_bash_it_is_run_by_sh_and_said(tmp_path: Path) -> None:
    (tmp_path / "false").symlink_to("/bin/false")
    command = line_command("false | :", env={"PATH": str(tmp_path)})
    assert command.argv[0] == FALLBACK
    execution = await run_line(command)
    assert (execution.exit.observed, execution.exit.stages) == (0, None)
    assert execution.remarks == (NO_BASH,)


async def test_out_of_descriptors_the_statuses_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", full)
    before = os.listdir("/proc/self/fd")
    execution, meaning = await ran("false | true")
    assert (execution.exit.observed, execution.exit.stages) == (1, None)
    assert meaning.outcome is Outcome.TARGET_FAILED
    assert os.listdir("/proc/self/fd") == before


async def test_fields_are_passed_on(tmp_path: Path) -> None:
    execution, _ = await ran(
        "cat; pwd", cwd=tmp_path, stdin=b"given\n", limits=CaptureLimits(stop_after=None)
    )
    assert execution.stdout.text == f"given\n{tmp_path}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_no_descriptor_is_left() -> None:
    await ran("true | true")
    before = os.listdir("/proc/self/fd")
    await ran("false | true")
    assert os.listdir("/proc/self/fd") == before
