"""Background runs: one end each, one owner each, nothing left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.execute.script import alive, python
from truepenny.errors import CouldNotRun, StorageFailed, UsageError
from truepenny.execute.background.record import State, read_record
from truepenny.execute.background.runs import (
    KEPT_SECONDS,
    BackgroundRun,
    BackgroundRuns,
    TooManyRuns,
    UnknownRun,
    sweep,
)
from truepenny.execute.command import Command
from truepenny.execute.ending import Cause
from truepenny.execute.execution import StartFault
from truepenny.system.clock import SystemClock
from truepenny.system.ids import CountingIds
from truepenny.system.lock_record import LockRecord
from truepenny.text.redact import Redactor

pytestmark = pytest.mark.anyio

LONG = "import os, time\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(60)"


async def first_line(runs: BackgroundRuns, run: BackgroundRun) -> str:
    """The first line of a run, once it is there."""
    with anyio.fail_after(10):
        while "\n" not in (text := runs.read(run.owner, run.id).text):
            await anyio.lowlevel.checkpoint()
    return text


@pytest.mark.parametrize("kind", ["gone", "another", "shorter", "longer", "link"])
async def test_output_that_somebody_changed_is_not_shown(tmp_path: Path, kind: str) -> None:
    async with BackgroundRuns(tmp_path / "runs", 1) as runs:
        run = runs.start(python(LONG), owner="me", label="x")
        said = await first_line(runs, run)
        if kind == "shorter":
            os.truncate(run.path, 0)
        elif kind == "longer":
            run.path.write_text(f"{said}all is well\n", encoding="utf-8")
        else:
            run.path.rename(tmp_path / "old")
        if kind == "another":
            run.path.write_text(said, encoding="utf-8")
        elif kind == "link":
            run.path.symlink_to(tmp_path / "old")
        for read in (lambda: runs.read("me", run.id), lambda: runs.tail("me", run.id, 5)):
            with pytest.raises(StorageFailed):
                read()
        assert (await runs.stop("me", run.id)).state is State.STOPPED


async def test_a_run_from_start_to_end(tmp_path: Path) -> None:
    ended: list[tuple[str, State]] = []
    async with BackgroundRuns(
        tmp_path / "runs",
        2,
        on_end=lambda run: ended.append((run.id, run.state)),
        ids=CountingIds(),
    ) as runs:
        run = runs.start(python("print('hello'); raise SystemExit(3)"), owner="me", label="greet")
        assert (run.id, run.state, run.execution) == ("run_1", State.RUNNING, None)
        assert runs.get("me", run.id) is run
        await run.ended.wait()
        assert run.state is State.EXITED
        assert run.execution is not None
        assert run.execution.exit.observed == 3
        assert ended == [("run_1", State.EXITED)]
        found = runs.read("me", run.id)
        assert (found.text, found.next, found.size, found.begun) == ("hello\n", 6, 6, False)
        assert runs.tail("me", run.id, 1).text == "hello\n"
        record = read_record(run.path.with_suffix(".json"))
        assert record is not None
        assert (record.state, record.exit, record.label) == (State.EXITED, 3, "greet")
    assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700
    assert ended == [("run_1", State.EXITED)]


async def test_output_can_be_followed_by_offsets(tmp_path: Path) -> None:
    read, write = os.pipe()
    code = f"import os\nprint('one', flush=True)\nos.read({read}, 1)\nprint('two')"
    command = python(code, descriptors=(read,))
    async with BackgroundRuns(tmp_path, 1) as runs:
        run = runs.start(command, owner="me", label="")
        assert await first_line(runs, run) == "one\n"
        assert runs.read("me", run.id).begun
        os.write(write, b"\n")
        await run.ended.wait()
        assert runs.read("me", run.id, 4).text == "two\n"
        assert runs.read("me", run.id, 4, 4).next == 8
    os.close(read)
    os.close(write)


async def test_stopping_ends_it_and_waits(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 1) as runs:
        run = runs.start(python(LONG), owner="me", label="long")
        pid = int(await first_line(runs, run))
        stopped = await runs.stop("me", run.id)
        assert stopped is run
        assert run.state is State.STOPPED
        assert run.execution is not None
        assert run.execution.cause is Cause.ABORT
        assert not alive(pid)
        # Again: nothing more happens.
        assert (await runs.stop("me", run.id)).state is State.STOPPED


async def test_leaving_ends_every_run(tmp_path: Path) -> None:
    pids: list[int] = []
    async with BackgroundRuns(tmp_path, 3) as runs:
        for _ in range(3):
            run = runs.start(python(LONG), owner="me", label="long")
            pids.append(int(await first_line(runs, run)))
    assert not any(alive(pid) for pid in pids)
    assert [run.state for run in runs.all("me")] == [State.STOPPED] * 3
    with pytest.raises(CouldNotRun, match="closed"):
        runs.start(python("pass"), owner="me", label="")


async def test_cancelling_ends_every_run_and_says_so(tmp_path: Path) -> None:
    pid = 0
    run: BackgroundRun | None = None
    with anyio.CancelScope() as scope:
        async with BackgroundRuns(tmp_path, 3) as runs:
            run = runs.start(python(LONG), owner="me", label="long")
            pid = int(await first_line(runs, run))
            scope.cancel()
            await anyio.sleep_forever()
    assert run is not None
    assert not alive(pid)
    assert run.state is State.STOPPED
    record = read_record(run.path.with_suffix(".json"))
    assert record is not None
    assert record.state is State.STOPPED


async def test_an_error_of_the_body_is_raised_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        async with BackgroundRuns(tmp_path, 1) as runs:
            runs.start(python(LONG), owner="me", label="")
            raise KeyError
    assert [run.state for run in runs.all("me")] == [State.STOPPED]


async def test_the_limit_is_said_and_a_place_is_free_again(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 1) as runs:
        run = runs.start(python(LONG), owner="me", label="long")
        with pytest.raises(TooManyRuns, match="no more than 1"):
            runs.start(python("pass"), owner="you", label="")
        await runs.stop("me", run.id)
        await runs.start(python("pass"), owner="you", label="").ended.wait()
        assert len(list(tmp_path.glob("*.output"))) == 2


async def test_an_owner_knows_only_its_own(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 2) as runs:
        mine = runs.start(python("pass"), owner="me", label="")
        yours = runs.start(python("pass"), owner="you", label="")
        assert runs.all("me") == (mine,)
        for call in (runs.get, runs.read):
            with pytest.raises(UnknownRun):
                call("me", yours.id)
        with pytest.raises(UnknownRun):
            runs.tail("me", yours.id, 1)
        with pytest.raises(UnknownRun):
            await runs.stop("me", yours.id)
        with pytest.raises(UnknownRun):
            runs.get("me", "run_none")


async def test_only_so_many_ended_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.execute.background.runs.KEPT_RUNS", 2)
    async with BackgroundRuns(tmp_path, 1) as runs:
        made = []
        for number in range(4):
            made.append(runs.start(python(f"print({number})"), owner="me", label=""))
            await made[-1].ended.wait()
        assert runs.all("me") == tuple(made[2:])
        assert len(list(tmp_path.iterdir())) == 4
        with pytest.raises(UnknownRun):
            runs.read("me", made[0].id)


async def test_a_listener_that_breaks_ends_no_other_run(tmp_path: Path) -> None:
    def fail(_: BackgroundRun) -> None:
        raise RuntimeError("listener")

    async with BackgroundRuns(tmp_path, 2, on_end=fail) as runs:
        long = runs.start(python(LONG), owner="me", label="")
        short = runs.start(python("pass"), owner="me", label="")
        await short.ended.wait()
        assert short.state is State.EXITED
        assert short.problem == "on_end failed: RuntimeError: listener"
        assert long.state is State.RUNNING


async def test_a_start_that_breaks_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageFailed("Writing failed: No space left on device")

    before = os.listdir("/proc/self/fd")
    async with BackgroundRuns(tmp_path, 1) as runs:
        monkeypatch.setattr("truepenny.execute.background.record.Record.write", full)
        with pytest.raises(StorageFailed):
            runs.start(python("pass"), owner="me", label="")
        assert runs.all("me") == ()
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == len(before)


async def test_what_cannot_start_has_failed(tmp_path: Path) -> None:
    ended: list[State] = []
    async with BackgroundRuns(tmp_path, 1, on_end=lambda run: ended.append(run.state)) as runs:
        run = runs.start(Command(("/no/such/program",), {}), owner="me", label="")
        assert run.state is State.FAILED
        assert run.ended.is_set()
        assert run.execution is not None
        assert run.execution.failure is not None
        assert run.execution.failure.fault is StartFault.MISSING_PROGRAM
        assert ended == [State.FAILED]
        assert (await runs.stop("me", run.id)).state is State.FAILED


async def test_a_structural_redactor_is_refused(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 1) as runs:
        with pytest.raises(UsageError, match="whole document"):
            runs.start(python("pass"), owner="me", label="", structural=True)
    assert list(tmp_path.iterdir()) == []


async def test_no_secret_and_no_control_sequence_reaches_the_disk(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn("correct-horse-battery", "test")
    code = "import os\nos.write(1, b'a \\x1b[31mcorrect-hor')\n"
    code += "os.write(1, b'\\x1b[0mse-battery b\\n\\xff\\n')"
    async with BackgroundRuns(tmp_path, 1) as runs:
        command = python(code, redactor=redactor)
        run = runs.start(command, owner="me", label="say correct-horse-battery")
        await run.ended.wait()
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"battery" not in written
    assert b"\x1b" not in written
    assert b"\\xff\n" in run.path.read_bytes()
    assert "battery" not in run.label


async def test_beyond_the_cap_it_runs_on_and_the_cut_is_counted(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 1, output_bytes=1000) as runs:
        run = runs.start(python("print('x' * 99 + '\\n' * 1, end='');" * 30), owner="me", label="")
        await run.ended.wait()
        found = runs.read("me", run.id)
        assert (found.size, found.cut) == (1000, 2000)
        assert run.state is State.EXITED
        record = read_record(run.path.with_suffix(".json"))
        assert record is not None
        assert record.cut == 2000


async def test_files_that_cannot_be_made_start_nothing(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 1, ids=CountingIds()) as runs:
        (tmp_path / "run_1.output").symlink_to("/etc/passwd")
        with pytest.raises(StorageFailed):
            runs.start(python("pass"), owner="me", label="")
        assert runs.all("me") == ()
        await runs.start(python("pass"), owner="me", label="").ended.wait()


@pytest.mark.parametrize("backend", ["asyncio"])
def test_exit_against_stop_has_one_winner(tmp_path: Path, backend: str) -> None:
    @settings(max_examples=15)
    @given(ticks=st.integers(0, 40), stops=st.integers(1, 3))
    def race(ticks: int, stops: int) -> None:
        anyio.run(one, ticks, stops, backend=backend)

    async def one(ticks: int, stops: int) -> None:
        ended: list[State] = []
        async with BackgroundRuns(tmp_path, 1, on_end=lambda run: ended.append(run.state)) as runs:
            command = Command(("/bin/sh", "-c", "exit 5"), {"PATH": os.defpath})
            run = runs.start(command, owner="me", label="")
            for _ in range(ticks):
                await anyio.lowlevel.checkpoint()
            async with anyio.create_task_group() as tasks:
                for _ in range(stops):
                    tasks.start_soon(runs.stop, "me", run.id)
            assert ended == [run.state]
            assert run.execution is not None
            code, signal = run.execution.exit.observed, run.execution.exit.signal
            # Whoever won, the state and the account say the same.
            if run.state is State.EXITED:
                assert (code, signal, run.execution.cause) == (5, None, None)
            else:
                assert run.state is State.STOPPED
                assert run.execution.cause is Cause.ABORT
        assert ended == [run.state]

    race()


def dead_record(path: Path, age: float) -> None:
    """Make the files of a run whose runtime is dead."""
    mine = LockRecord.mine("background")
    dead = replace(mine, process_start=(mine.process_start or "")[:-1] + "x")
    fields = {
        "id": path.stem, "owner": "me", "label": "", "state": "running", "started_at": "",
        "ended_at": "", "exit": None, "signal": None, "cause": "", "cut": 0,
        "runtime": dead.encode().decode(),
    }  # fmt: skip
    path.write_text(json.dumps(fields), encoding="utf-8")
    path.with_suffix(".output").write_text("x", encoding="utf-8")
    when = SystemClock().now().timestamp() - age
    os.utime(path, (when, when))


async def test_the_sweep_takes_what_the_dead_left_a_day_ago(tmp_path: Path) -> None:
    now = SystemClock().now()
    dead_record(tmp_path / "run_old.json", KEPT_SECONDS + 60)
    dead_record(tmp_path / "run_new.json", 60)
    (tmp_path / "run_odd.json").write_text("{}", encoding="utf-8")
    os.mkfifo(tmp_path / "run_pipe.json")
    (tmp_path / "run_link.json").symlink_to(tmp_path / "run_new.json")
    (tmp_path / "other").write_text("", encoding="utf-8")
    dead_record(tmp_path / "run_name.json", KEPT_SECONDS + 60)
    (tmp_path / "run_name.json").rename(tmp_path / "run_wrong.json")
    before = {path.name for path in tmp_path.iterdir()}
    assert sweep(tmp_path, now) == 1
    after = {path.name for path in tmp_path.iterdir()}
    assert before - after == {"run_old.json", "run_old.output"}
    assert sweep(tmp_path, now + timedelta(days=2)) == 1
    left = read_record(tmp_path / "run_wrong.json")
    assert left is not None


async def test_one_of_a_living_runtime_is_never_swept(tmp_path: Path) -> None:
    async with BackgroundRuns(tmp_path, 1) as runs:
        run = runs.start(python("print(1)"), owner="me", label="")
        await run.ended.wait()
        assert sweep(tmp_path, SystemClock().now() + timedelta(days=9)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_killed_outright_the_run_is_lost_and_gone(tmp_path: Path) -> None:
    code = f"""
import sys, anyio
from pathlib import Path
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.execute.command import Command
async def main():
    async with BackgroundRuns(Path(sys.argv[1]), 1) as runs:
        command = Command((sys.executable, "-I", "-S", "-c", {LONG!r}), {{}}, timeout=None)
        run = runs.start(command, owner="me", label="")
        while "\\n" not in (text := runs.read("me", run.id).text):
            await anyio.lowlevel.checkpoint()
        print(run.id, text, end="", flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""
    argv = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        run, pid = victim.stdout.readline().split()
        victim.kill()
        victim.wait()
    record = read_record(tmp_path / f"{run}.json")
    assert record is not None
    assert record.state is State.LOST
    handle = -1
    try:
        handle = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return
    import select

    assert select.select([handle], [], [], 10)[0]
    os.close(handle)
