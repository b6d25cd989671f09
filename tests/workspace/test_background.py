"""Commands in the background, through the three tools: one account of each, for its owner alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from truepenny.execute.ending import Cause, Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.result import Result
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.job_stop import job_stop_tool
from truepenny.workspace.task_output import task_output_tool

from .world import LEVELS, World, read, world

pytestmark = pytest.mark.anyio

SECRET = "correct-horse-9-battery"


async def start(here: World, line: str, **context: object) -> str:
    """Start a line and return its id."""
    tool = bash_tool(here.workspace)
    done = await here.call(tool, {"command": line, "background": True}, **context)
    assert done.outcome is Outcome.SUCCESS
    assert done.facts.reason == "still_running"
    assert done.facts.exit is None
    return done.facts.detail["background"]["id"]


async def look(here: World, id: str, **arguments: object) -> Result:
    return await here.call(task_output_tool(here.workspace), {"id": id, **arguments})


@pytest.mark.parametrize("level", LEVELS)
async def test_how_it_ended_is_told_and_never_made_up(level: str) -> None:
    async with world(level) as here:
        id = await start(here, "echo begun; exit 7")
        done = await look(here, id, wait_ms=20_000)
        assert done.outcome is Outcome.TARGET_FAILED
        assert done.facts.exit is not None
        assert done.facts.exit.observed == 7
        assert done.facts.sandbox == level
        assert done.text == "begun\n"
        assert done.facts.detail["background"]["state"] == "exited"
        assert "exit 7" in read(done)


async def test_what_it_came_to_is_judged_by_the_whole_line() -> None:
    async with world() as here:
        comment = "x" * 6000
        id = await start(here, f"exit 1 # {comment} ; grep nothing")
        done = await look(here, id, wait_ms=20_000)
        assert done.outcome is Outcome.TARGET_FAILED
        id = await start(here, f"grep nothing </dev/null # {comment}")
        done = await look(here, id, wait_ms=20_000)
        assert done.outcome is Outcome.NO_MATCH


@pytest.mark.parametrize("level", LEVELS)
async def test_a_run_that_goes_on_is_partial_and_can_be_stopped_once(level: str) -> None:
    async with world(level) as here:
        os.mkfifo(here.root / "gate", 0o666)
        (here.root / "gate").chmod(0o666)
        id = await start(here, "cat gate; sleep 60")
        # Opening it for writing waits until the command has it open.
        with (here.root / "gate").open("w", encoding="utf-8") as gate:
            gate.write("through\n")
        done = await look(here, id, wait_ms=500)
        assert done.outcome is Outcome.SUCCESS
        assert done.facts.reason == "still_running"
        assert done.facts.completeness.state == "partial"
        assert done.facts.sandbox == level
        assert done.facts.exit is None
        assert done.text == "through\n"
        stop = job_stop_tool(here.workspace)
        done = await here.call(stop, {"id": id})
        assert done.outcome is Outcome.SUCCESS
        assert (done.facts.detail["stopped"], done.facts.detail["ended_before"]) == (True, False)
        assert done.facts.cause is Cause.ABORT
        done = await here.call(stop, {"id": id})
        assert (done.facts.detail["stopped"], done.facts.detail["ended_before"]) == (False, True)
        assert "ended before" in done.text
        done = await look(here, id)
        assert (done.outcome, done.facts.cause) == (Outcome.INTERRUPTED, Cause.ABORT)


async def test_stopping_what_failed_by_itself_says_how_it_had_ended() -> None:
    async with world() as here:
        id = await start(here, "nonesuch-program")
        await look(here, id, wait_ms=20_000)
        done = await here.call(job_stop_tool(here.workspace), {"id": id})
        assert done.outcome is Outcome.MISSING_DEPENDENCY
        assert "exit 127" in done.text


async def test_anothers_run_is_an_unknown_one() -> None:
    async with world() as here:
        id = await start(here, "echo mine; sleep 60")
        look, stop = task_output_tool(here.workspace), job_stop_tool(here.workspace)
        for other in ({"user": "bob"}, {"session": "ses_2"}, {"user": "ann/ses_1", "session": ""}):
            for tool in (look, stop):
                theirs = await here.call(tool, {"id": id}, **other)
                none = await here.call(tool, {"id": "run_none"}, **other)
                assert theirs.text.replace(id, "run_none") == none.text
                assert replace(theirs.facts, duration=0.0) == replace(none.facts, duration=0.0)
                assert theirs.outcome is Outcome.INVALID_ARGUMENTS
            listed = await here.call(look, {}, **other)
            assert listed.outcome is Outcome.NO_MATCH
        listed = await here.call(look, {})
        assert listed.facts.detail["running"] == 1
        assert id in listed.text


async def test_the_cap_refuses_and_starts_nothing() -> None:
    async with world(background=1) as here:
        await start(here, "sleep 60")
        done = await here.call(
            bash_tool(here.workspace), {"command": "touch ran", "background": True}
        )
        assert done.outcome is Outcome.REFUSED
        assert done.facts.reason == "too_many_runs"
        assert "task_output lists them" in done.facts.hint
        assert not (here.root / "ran").exists()


async def test_output_is_read_in_parts_and_as_a_tail() -> None:
    async with world() as here:
        id = await start(here, "seq 10000")
        done = await look(here, id, wait_ms=20_000, lines=3)
        assert done.text == "9998\n9999\n10000\n"
        whole = "".join(f"{number}\n" for number in range(1, 10001))
        assert done.facts.completeness.state == "partial"
        assert (done.facts.completeness.shown, done.facts.completeness.total) == (16, len(whole))
        sizes = done.facts.bytes
        assert sizes.observed == sizes.kept + sizes.discarded + sizes.offloaded == len(whole)
        assert Path(sizes.offload_path).read_text(encoding="utf-8") == whole
        got, offset = "", 0
        while offset < len(whole):
            done = await look(here, id, offset=offset)
            place = done.facts.detail["reading"]
            got += done.text
            assert place["offset"] == offset
            offset = place["next"]
            assert len(done.text.encode()) <= 16 * 1024
        assert got == whole
        done = await look(here, id, lines=2000)
        assert len(done.text.encode()) <= 16 * 1024


async def test_secrets_are_masked_in_the_file_the_label_and_the_text() -> None:
    redactor = Redactor()
    redactor.learn(SECRET, "vault")
    async with world() as here:
        id = await start(here, f"echo {SECRET}; echo pass={SECRET} >&2", redactor=redactor)
        done = await look(here, id, wait_ms=20_000)
        path = Path(done.facts.detail["background"]["path"])
        assert SECRET not in read(done)
        for file in path.parent.iterdir():
            assert SECRET not in file.read_text(encoding="utf-8")
        assert path.read_text(encoding="utf-8").count("[REDACTED:") == 2


async def test_offset_and_lines_exclude_each_other() -> None:
    async with world() as here:
        id = await start(here, "true")
        done = await look(here, id, offset=1, lines=1)
        assert done.outcome is Outcome.INVALID_ARGUMENTS


async def test_a_file_that_cannot_be_made_starts_nothing() -> None:
    async with world() as here:
        (here.workspace.state / "background").rmdir()
        done = await here.call(
            bash_tool(here.workspace), {"command": "touch ran", "background": True}
        )
        assert (done.outcome, done.facts.reason) == (Outcome.INTERNAL_ERROR, "background")
        assert done.facts.completeness.state == "unknown"
        assert not (here.root / "ran").exists()
