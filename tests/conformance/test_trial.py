"""The driver, with a small tool and real processes."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from truepenny.conformance import process, trial
from truepenny.conformance.case import Case, CaseFile, Expect, shipped
from truepenny.conformance.judge import Verdict
from truepenny.conformance.observed import Observed
from truepenny.conformance.report import Report
from truepenny.errors import CouldNotRun

from .tool import SmallTool

pytestmark = pytest.mark.anyio


def case(
    command: str, *, name: str = "one", more: dict[str, Any] | None = None, **expect: Any
) -> Case:
    return Case(
        id=name, title="t", why="w", command=command, expect=Expect(**expect), category="c",
        **(more or {}),
    )  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(trial, "LEFTOVER_SECONDS", 0.3)
    yield


async def test_a_case_runs_in_its_own_folder_with_its_files(tmp_path: Path) -> None:
    tool = SmallTool()
    one = case(
        "./a/tool.sh; pwd; touch made",
        more={
            "files": (CaseFile(path="a/tool.sh", text="#!/bin/sh\necho in @WORK@\n", mode="755"),)
        },
        output_contains=("in @WORK@", "@WORK@"),
        files_present=("made",),
        exit_code=0,
    )
    (done,) = await trial.run([one], tool, tmp_path)
    assert done.verdict is Verdict.PASSED, done.findings
    assert tool.prepared == [tmp_path / "first-call", tmp_path / "one"]
    assert not (tmp_path / "one").exists()


async def test_wrong_silent_and_right_are_three_verdicts(tmp_path: Path) -> None:
    def liar(command: str, seen: Observed) -> Observed:
        return replace(seen, exit_code=0 if command == "exit 1" else seen.exit_code)

    cases = [
        case("exit 1", name="lie", exit_code=1),
        case("exit 2", name="silence", exit_code=2, timed_out=False),
        case("exit 3", name="truth", exit_code=3),
        case("true", name="lacking", more={"needs": ("no-such-program-41",)}, exit_code=0),
    ]
    done = await trial.run(cases, SmallTool(liar), tmp_path)
    assert [one.verdict for one in done] == ["failed", "not_told", "passed", "not_run"]
    report = Report("1.0", "small", "1", tuple(done))
    assert report.rows()[-1] == ("all", "4", "1", "1", "1", "1", "2")
    assert report.conforms is False
    assert [fault[0] for fault in report.faults()] == ["lie", "silence"]
    assert report.to_json()["conforms"] is False
    assert "| all | 4 | 1 | 1 | 1 | 1 | 2 |" in report.markdown()


async def test_nothing_that_ran_is_no_pass(tmp_path: Path) -> None:
    one = case("true", more={"needs": ("no-such-program-41",)}, exit_code=0)
    done = await trial.run([one], SmallTool(), tmp_path)
    assert Report("1.0", "small", "1", tuple(done)).conforms is None


async def test_a_process_that_stays_is_found_named_and_ended(tmp_path: Path) -> None:
    one = case("sleep @NAP@ >/dev/null 2>&1 & echo $! > pid", no_process_left=True)
    pids: list[int] = []

    def note(command: str, seen: Observed) -> Observed:
        if "sleep" in command:
            pids.append(int((tmp_path / "one" / "pid").read_text(encoding="utf-8")))
        return seen

    (done,) = await trial.run([one], SmallTool(note), tmp_path)
    assert done.verdict is Verdict.FAILED
    (finding,) = done.findings
    assert finding.observed.startswith("sleep 6")
    assert ended(pids[0])


def ended(pid: int) -> bool:
    """Whether it ends soon: the signal is on its way."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 10)[0])
    finally:
        os.close(descriptor)


async def test_a_call_that_is_taken_back_is_judged_from_outside(tmp_path: Path) -> None:
    one = case(
        "hang", more={"abort_after": 0.1}, ended_within=5, no_process_left=True, usable_after=True
    )
    (done,) = await trial.run([one], SmallTool(hang="hang"), tmp_path)
    assert done.verdict is Verdict.PASSED, done.findings


async def test_a_tool_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "GRACE", 0.1)
    one = case("hang", more={"timeout": 0.1}, timed_out=True)
    two = case("true", name="two", exit_code=0)
    done = await trial.run([one, two], SmallTool(hang="hang"), tmp_path)
    assert [one.verdict for one in done] == ["failed", "passed"]
    assert done[0].findings[0].expectation == "answer"


async def test_a_tool_that_runs_nothing_gets_no_table(tmp_path: Path) -> None:
    def refuses(command: str, seen: Observed) -> Observed:
        return Observed("not on the list of allowed commands", flagged=True)

    with pytest.raises(CouldNotRun, match="not on the list"):
        await trial.run([case("true", exit_code=0)], SmallTool(refuses), tmp_path)


async def test_a_limit_that_cannot_be_given_is_not_told(tmp_path: Path) -> None:
    tool = SmallTool()
    tool.takes_timeout = False
    (done,) = await trial.run(
        [case("sleep 60", more={"timeout": 1}, timed_out=True)], tool, tmp_path
    )
    assert done.verdict is Verdict.NOT_TOLD


async def test_a_plain_shell_fails_what_only_care_passes(tmp_path: Path) -> None:
    """The suite finds what it is there to find: sh alone hides the first stage of a pipeline."""
    cases = shipped().choose(ids=("pipe-first-fails", "pipe-last-fails", "terminal-clear"))
    done = await trial.run(cases, SmallTool(), tmp_path)
    assert [one.verdict for one in done] == ["failed", "passed", "failed"]


def test_marks_are_found_in_arguments_alone() -> None:
    assert process.marked("a mark that nobody has 41") == {}
