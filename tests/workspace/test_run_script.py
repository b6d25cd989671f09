"""The run_script tool with real interpreters: the run, its record, and what is kept of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.execute.script import alive
from truepenny.execute.ending import Cause, Outcome
from truepenny.tool.result import Result
from truepenny.workspace.run_script import run_script_tool

from .world import LEVELS, World, read, world

pytestmark = pytest.mark.anyio

SECRET = "correct-horse-9-battery"


FORK = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(60)
print("leader")
"""


def manifest(result: Result) -> dict[str, Any]:
    """The manifest of the run, as it is on the disk."""
    folder = Path(result.facts.detail["run"]["folder"])
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


async def run(here: World, script: str, **arguments: Any) -> Result:
    """Write a shell script and run it."""
    here.write("script", script)
    tool = run_script_tool(here.workspace)
    return await here.call(tool, {"interpreter": "sh", "script": "script", **arguments})


@pytest.mark.parametrize("level", LEVELS)
async def test_the_record_of_a_run(level: str) -> None:
    async with world(level) as here:
        here.write("in.txt", "given")
        here.write("same.txt", "same")
        body = 'echo "out $1"; echo err >&2; echo made >made.txt; exit 4'
        done = await run(
            here, body, args=["x y"], inputs=["in.txt", "none"],
            outputs=["made.txt", "same.txt", "never", "made.txt"],
        )  # fmt: skip
        made = manifest(done)
    assert done.outcome is Outcome.TARGET_FAILED
    assert done.facts.exit is not None
    assert done.facts.exit.observed == 4
    assert done.facts.sandbox == level
    assert done.text == "STDOUT:\nout x y\nSTDERR:\nerr\n"
    assert "output made.txt: created" in read(done)
    assert made["version"] == 1
    assert (made["outcome"], made["exitCode"]) == ("failed", 4)
    assert made["leaderExit"] == {"code": 4, "signal": None}
    assert made["script"]["sha256"] == hashlib.sha256(body.encode()).hexdigest()
    assert made["script"]["changedWhileRunning"] is False
    assert made["interpreter"]["resolvedPath"] == str(Path(shutil.which("sh") or "").resolve())
    assert made["argv"][-1] == "x y"
    assert made["inputs"] == [
        {"path": "in.txt", "bytes": 5, "hashOmitted": None,
         "sha256": hashlib.sha256(b"given").hexdigest()},
        {"path": "none", "bytes": None, "hashOmitted": "absent", "sha256": None},
    ]  # fmt: skip
    assert [(entry["path"], entry["status"]) for entry in made["outputs"]] == [
        ("made.txt", "created"),
        ("same.txt", "unchanged"),
        ("never", "absent"),
    ]
    assert made["sandbox"]["level"] == level
    assert made["startedAt"] <= made["finishedAt"]


async def test_python_writes_its_log_at_once_unless_options_are_listed() -> None:
    async with world() as here:
        here.write("a.py", "import sys; print(sys.flags.unbuffered if 0 else sys.argv[1:])")
        tool = run_script_tool(here.workspace)
        base = {"interpreter": "python3", "script": "a.py"}
        done = await here.call(tool, base)
        assert manifest(done)["interpreter"]["args"] == ["-u"]
        done = await here.call(tool, {**base, "interpreter_args": []})
        assert manifest(done)["interpreter"]["args"] == []
        assert done.outcome is Outcome.SUCCESS


async def test_logs_are_whole_and_the_result_shows_their_end() -> None:
    async with world() as here:
        done = await run(here, "seq 20000; echo last >&2")
        folder = Path(done.facts.detail["run"]["folder"])
        log = (folder / "stdout.log").read_text(encoding="utf-8")
        assert log == "".join(f"{number}\n" for number in range(1, 20001))
        assert (folder / "stderr.log").read_text(encoding="utf-8") == "last\n"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert "earlier bytes are in" in done.text
        assert "20000\nSTDERR:\nlast\n" in done.text
        assert len(done.text.encode()) < 20 * 1024
        sizes = done.facts.bytes
        assert sizes.observed == sizes.kept + sizes.offloaded == len(log) + 5
        assert sizes.offload_path == str(folder)
        assert done.facts.completeness.next == f"read path={folder}/stdout.log"
        assert here.progress


async def test_values_of_variables_are_in_no_record() -> None:
    async with world() as here:
        done = await run(
            here,
            'echo "[$DEPLOY_KEY] [$FOLDER] [$LEVEL]"; echo $DEPLOY_KEY >&2',
            env={"DEPLOY_KEY": SECRET, "FOLDER": "/data/set/one", "LEVEL": "debug"},
            args=[SECRET],
        )
        folder = Path(done.facts.detail["run"]["folder"])
        assert SECRET not in read(done)
        assert "[/data/set/one] [debug]" in done.text
        for name in ("run.json", "stdout.log", "stderr.log"):
            text = (folder / name).read_text(encoding="utf-8")
            assert SECRET not in text
            assert "/data/set/one" not in text or name == "stdout.log"
        assert manifest(done)["env"] == {
            "declaredKeys": ["DEPLOY_KEY", "FOLDER", "LEVEL"],
            "redactedKeys": ["DEPLOY_KEY"],
        }


@pytest.mark.parametrize("level", LEVELS)
async def test_a_grandchild_that_keeps_the_output_does_not_hang_it(level: str) -> None:
    async with world(level) as here:
        here.write("fork.py", FORK)
        done = await here.call(
            run_script_tool(here.workspace), {"interpreter": "python3", "script": "fork.py"}
        )
        made = manifest(done)
    assert done.facts.duration < 20
    assert "leader\n" in done.text
    assert made["leaderExit"]["code"] == 0
    if level == "bwrap":
        # Its process tree ends with its first process: nothing can stay.
        assert made["outcome"] == "succeeded"
    else:
        assert made["cleanup"]["descendantsCleaned"] >= 1 or made["pipeDrainIncomplete"]


async def test_a_timeout_and_its_ceiling() -> None:
    async with world() as here:
        done = await run(here, "echo begun; sleep 60", timeout_ms=300)
        assert (done.outcome, done.facts.cause) == (Outcome.INTERRUPTED, Cause.TIMEOUT)
        assert manifest(done)["outcome"] == "timed-out"
        assert "begun\n" in done.text
        done = await run(here, "true", timeout_ms=999_999_999)
        assert manifest(done)["timeoutMs"] == 6 * 3600 * 1000
        assert done.facts.detail["timeout_clamped_to"] == 6 * 3600


async def test_an_aborted_run_leaves_its_manifest() -> None:
    async with world() as here:
        os.mkfifo(here.root / "gate")
        (here.root / "gate").chmod(0o666)
        here.write("script", "echo begun; cat gate; sleep 60")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                here.call,
                run_script_tool(here.workspace),
                {"interpreter": "sh", "script": "script"},
            )
            # Opening it for writing waits until the script has it open.
            await anyio.to_thread.run_sync((here.root / "gate").write_text, "x")
            tasks.cancel_scope.cancel()
        (folder,) = (here.workspace.state / "runs").iterdir()
        made = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        assert made["outcome"] == "aborted"
        assert made["exitCode"] is None
        assert (folder / "stdout.log").read_text(encoding="utf-8").startswith("begun\n")
        assert not (folder / "owner").exists()


async def test_an_interpreter_that_is_not_there() -> None:
    async with world() as here:
        here.write("script", "")
        done = await here.call(
            run_script_tool(here.workspace), {"interpreter": "octave", "script": "script"}
        )
        assert shutil.which("octave") is not None or done.outcome is Outcome.MISSING_DEPENDENCY
        assert shutil.which("octave") is not None or manifest(done)["outcome"] == "spawn-failed"


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ({"script": "none"}, Outcome.INVALID_ARGUMENTS),
        ({"script": "sub"}, Outcome.INVALID_ARGUMENTS),
        ({"script": "pipe"}, Outcome.INVALID_ARGUMENTS),
        ({"script": "link"}, Outcome.REFUSED),
        ({"script": "/etc/passwd"}, Outcome.REFUSED),
        ({"cwd": "out"}, Outcome.REFUSED),
        ({"cwd": "script"}, Outcome.INVALID_ARGUMENTS),
        ({"args": ["a\0"]}, Outcome.INVALID_ARGUMENTS),
        ({"args": ["é" * 4000]}, Outcome.INVALID_ARGUMENTS),
        ({"inputs": ["/etc/passwd"]}, Outcome.INVALID_ARGUMENTS),
        ({"outputs": ["out/x"]}, Outcome.REFUSED),
        ({"env": {"A": "\0"}}, Outcome.INVALID_ARGUMENTS),
    ],
)
async def test_what_is_not_run(arguments: dict[str, Any], outcome: Outcome) -> None:
    async with world() as here:
        here.write("script", "touch ran")
        (here.root / "sub").mkdir()
        os.mkfifo(here.root / "pipe")
        (here.root / "out").symlink_to("/")
        (here.root / "link").symlink_to("/etc/passwd")
        done = await here.call(
            run_script_tool(here.workspace),
            {"interpreter": "sh", "script": "script", **arguments},
        )
        assert done.outcome is outcome
        assert done.facts.exit is None
        if done.facts.reason in ("script", "cwd"):
            assert f"by its path from {here.root}" in done.facts.hint
        assert not (here.root / "ran").exists()
        assert not (here.workspace.state / "runs").exists()


async def test_only_the_newest_runs_are_kept() -> None:
    async with world(kept_runs=2) as here:
        ids = [(await run(here, "true")).facts.detail["run"]["id"] for _ in range(4)]
        left = {path.name for path in (here.workspace.state / "runs").iterdir()}
        assert left == set(ids[-2:])


async def test_a_manifest_that_cannot_be_written_is_an_error() -> None:
    async with world() as here:
        here.write("script", "cat gate; echo done")
        os.mkfifo(here.root / "gate")
        (here.root / "gate").chmod(0o666)
        results: list[Result] = []

        async def call() -> None:
            arguments = {"interpreter": "sh", "script": "script"}
            results.append(await here.call(run_script_tool(here.workspace), arguments))

        def block() -> None:
            with (here.root / "gate").open("w", encoding="utf-8"):
                (folder,) = (here.workspace.state / "runs").iterdir()
                (folder / "run.json").mkdir()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.to_thread.run_sync(block)
        (done,) = results
        assert done.outcome is Outcome.INTERNAL_ERROR
        assert done.facts.reason == "manifest"
        assert "manifest was not written" in read(done)
        assert "done\n" in done.text


@pytest.mark.parametrize("steps", [0, *(2**power for power in range(13))])
async def test_stopped_at_any_moment_it_leaves_a_manifest_and_no_process(steps: int) -> None:
    async with world() as here:
        here.write("script", "echo $$ >pid.new; mv pid.new pid; sleep 60 & sleep 60")
        arguments = {"interpreter": "sh", "script": "script", "inputs": ["script"]}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.call, run_script_tool(here.workspace), arguments)
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        for folder in (here.workspace.state / "runs").glob("*"):
            made = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            assert made["outcome"] == "aborted"
            assert made["exitCode"] is None
            assert not (folder / "owner").exists()
        if (here.root / "pid").exists():
            assert not alive(int((here.root / "pid").read_text(encoding="utf-8")))


async def test_many_outputs_are_told_in_part() -> None:
    async with world() as here:
        done = await run(here, "true", outputs=[f"{'o' * 400}{number}" for number in range(64)])
        assert "48 more outputs are in " in read(done)
        assert len(read(done).encode()) < 16 * 1024
        assert len(done.facts.detail["outputs"]) == 64


async def test_a_loop_does_not_fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truepenny.workspace.script_run.run.LOG_CEILING_BYTES", 200_000)
    async with world() as here:
        done = await run(here, "yes")
        made = manifest(done)
        assert done.outcome is Outcome.TRUNCATED
        assert done.facts.cause is Cause.OUTPUT_CAP
        assert (made["outcome"], made["cause"]) == ("failed", "output_cap")
        assert made["stdout"]["bytes"] < 1_000_000
