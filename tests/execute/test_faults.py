"""Faults at every place: whatever happens in a run, nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from tests.exhaustion import exhausted
from truepenny.execute.child import Child
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import Cause, ExitFact
from truepenny.execute.execution import Execution, StartFault
from truepenny.execute.process import run
from truepenny.execute.shell import line_command, run_line
from truepenny.system.clock import SystemClock
from truepenny.system.descendants import (
    _STARTS,  # pyright: ignore[reportPrivateUsage]
    children,
)
from truepenny.text.bound import Limits

from .script import alive, python
from .stand_in import Members, StandIn

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
]

SMALL = CaptureLimits(stdout=Limits(bytes=100))

MOST_POINTS = 200
"""Far more points to stop at than any run has."""


def threads() -> set[str]:
    return {one for one in os.listdir("/proc/self/task") if "truepenny-start" in _comm(one)}


def _comm(thread: str) -> str:
    try:
        return Path(f"/proc/self/task/{thread}/comm").read_text(encoding="utf-8")
    except OSError:
        return ""


@contextmanager
def nothing_left() -> Iterator[None]:
    """Fail where a descriptor or a child is there afterwards that was not before."""
    descriptors, below = len(os.listdir("/proc/self/fd")), set(children(os.getpid()))
    known = set(_STARTS)
    yield
    assert known >= _STARTS
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert set(children(os.getpid())) <= below


class Points:
    """Counts the places where a run waits, on the way in and out, and stops it at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._left = 0
        self._scope: anyio.CancelScope | None = None
        for name in ("wait_readable", "wait_writable"):
            monkeypatch.setattr(anyio, name, self._counted(getattr(anyio, name)))
        monkeypatch.setattr(SystemClock, "sleep", self._counted(SystemClock.sleep))
        event = type(anyio.Event())
        monkeypatch.setattr(event, "wait", self._counted(event.wait))
        monkeypatch.setattr(Child, "end", self._counted(Child.end))

    def _counted(self, wait: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def counted(*arguments: object) -> object:
            self._pass()
            try:
                return await wait(*arguments)
            finally:
                self._pass()

        return counted

    def _pass(self) -> None:
        self._left -= 1
        if self._left == 0 and self._scope is not None:
            self._scope.cancel()

    async def stops_at(
        self, number: int, work: Callable[[], Awaitable[object]]
    ) -> tuple[bool, bool]:
        """Do the work, cancelled at the point of that number; return whether that was reached, and
        whether the work was done all the same: after its last point nothing can stop it."""
        done = False
        with anyio.CancelScope() as self._scope:
            self._left = number
            await work()
            done = True
        return self._left <= 0, done


TWO = "import os, time, signal\n{before}os.fork()\nos.write(1, b'%d\\n' % os.getpid())\n{after}"
LEAVES = """
import os, sys, time
if os.fork():
    os.write(1, b"x" * 300_000)
    sys.stdin.read()
    sys.exit(0)
os.setsid()
os.write(1, b"%d\\n" % os.getpid())
time.sleep(60)
"""


FIRST_THREAD_ENDS = """
import ctypes, os, threading, time
if os.fork():
    time.sleep(0.3)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.write(1, b"%d\\n" % os.getpid())
os.close(1)
os.close(2)
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


async def test_one_that_lives_on_in_another_thread_alone_is_found() -> None:
    await run(python("pass"))
    pids: list[int] = []
    with nothing_left():
        done = await run(
            python(FIRST_THREAD_ENDS), on_output=lambda _, text: pids.append(int(text))
        )
    assert done.exit.observed == 0
    assert done.leftovers == 1
    assert not os.path.exists(f"/proc/{pids[0]}")


@pytest.mark.parametrize("kind", ["ends", "times out", "leaves", "confined", "line"])
async def test_stopped_at_any_point_nothing_is_left(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.execute.child.GRACE_SECONDS", 0.02)
    monkeypatch.setattr("truepenny.execute.process.DRAIN_SECONDS", 0.05)
    ignoring = TWO.format(before="signal.signal(15, 1)\n", after="time.sleep(60)")
    offload = tmp_path / "out"
    sandboxes: list[StandIn] = []

    def work() -> Awaitable[Execution]:
        if kind == "ends":
            command = python("import sys; print(len(sys.stdin.read()))", stdin=b"x" * 200_000)
        elif kind == "times out":
            command = python(ignoring, timeout=0.1)
        elif kind == "leaves":
            command = python(LEAVES, stdin=b"x", limits=SMALL, offload=offload)
        elif kind == "confined":
            sandboxes.append(StandIn(group=Members(), before_start=lambda: None))
            command = python("print(1)", sandbox=sandboxes[-1])
        else:
            return run_line(line_command("sleep 0.01 | true", env={"PATH": os.defpath}))
        return run(command, on_output=seen)

    pids: list[int] = []

    def seen(_: str, text: str) -> None:
        pids.extend(int(word) for word in text.split() if word.isdigit())

    await work()
    offload.unlink(missing_ok=True)
    points = Points(monkeypatch)
    number, reached = 0, True
    with nothing_left():
        while reached:
            number += 1
            assert number < MOST_POINTS
            reached, done = await points.stops_at(number, work)
            assert offload.exists() == (done and kind == "leaves")
            offload.unlink(missing_ok=True)
            assert not any(alive(pid) for pid in pids if pid > 1)
            assert all(one.opened == one.closed == 1 for one in sandboxes)
    assert number > 8  # it was really stopped at points


async def test_out_of_descriptors_is_said_and_nothing_is_left() -> None:
    await run(python("pass"))
    seen: set[StartFault | None] = set()
    with nothing_left():
        for free in (*range(10), 40):
            with exhausted(free):
                done = await run(python("print(1)"))
                line = await run_line(line_command("false | true", env={"PATH": os.defpath}))
            seen.add(done.failure and done.failure.fault)
            if done.failure is None:
                assert (done.exit.observed, done.stdout.text) == (0, "1\n")
            else:
                assert done.exit == ExitFact()
            if line.failure is None:
                assert line.exit.observed == 1
                assert line.exit.stages in (None, (1, 0))
    assert seen == {StartFault.NO_RESOURCES, None}


async def test_out_of_descriptors_at_the_end_all_is_ended() -> None:
    code = """
import os, sys, time
if os.fork():
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(0.2)
    sys.exit(0)
os.setsid()
os.write(1, b"%d\\n" % os.getpid())
os.close(1)
os.close(2)
time.sleep(60)
"""
    await run(python("pass"))
    pids: list[int] = []
    with nothing_left():
        full = exhausted()
        entered = False

        def fill(_: str, text: str) -> None:
            nonlocal entered
            pids.extend(map(int, text.split()))
            if not entered and len(pids) == 2:
                entered = True
                full.__enter__()

        try:
            done = await run(python(code), on_output=fill)
        finally:
            full.__exit__(None, None, None)
    assert len(pids) == 2
    assert done.exit.observed == 0
    assert done.leftovers == 1
    assert not any(alive(pid) for pid in pids)


async def test_signals_to_us_disturb_no_run() -> None:
    count = 0

    def handler(*_: object) -> None:
        nonlocal count
        count += 1

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        with nothing_left():
            for _ in range(10):
                done = await run(python("import sys; print(sys.stdin.read())", stdin=b"x" * 90_000))
                assert done.stdout.bytes.observed == 90_001
                assert done.exit.observed == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert count > 10


async def test_a_program_that_is_killed_is_reported_so() -> None:
    pids: list[int] = []

    def kill(_: str, text: str) -> None:
        pids.append(int(text))
        os.kill(int(text), signal.SIGKILL)

    code = "import os, time\nos.write(1, b'%d' % os.getpid())\ntime.sleep(60)"
    with nothing_left():
        done = await run(python(code), on_output=kill)
    assert (done.exit.signal, done.cause) == (signal.SIGKILL, Cause.SIGNAL)
    assert not alive(pids[0])


FULL = """
mount -t tmpfs -o size=512k none "$1" && exec "$2" -c "$3" "$1"
"""

ON_FULL_DISK = """
import sys, anyio
from pathlib import Path
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.process import run
from truepenny.text.bound import Limits
disk = Path(sys.argv[1])
code = "for n in range(40000): print(n, 'x' * 10)"
limits = CaptureLimits(stdout=Limits(bytes=1000))
argv = (sys.executable, "-I", "-S", "-c", code)
async def main():
    done = await run(Command(argv, {}, limits=limits, offload=disk / "offload"))
    counts = done.stdout.bytes
    assert done.exit.observed == 0, done
    assert done.offloaded.problem == "No space left on device", done.offloaded
    assert not done.offloaded.complete
    assert done.offloaded.bytes == (disk / "offload").stat().st_size > 0
    assert counts.observed == counts.kept + counts.discarded + counts.offloaded, counts
    assert counts.observed > 600000
    (disk / "offload").unlink()
    async with BackgroundRuns(disk, 2) as runs:
        one = runs.start(Command(argv, {}), owner="me", label="")
        await one.ended.wait()
        assert one.state == "exited", one
        assert one.execution.exit.observed == 0
        found = runs.read("me", one.id)
        assert found.problem == "No space left on device", found
        assert found.size + found.cut == counts.observed, (found.size, found.cut)
    print("fine", sorted(path.suffix for path in disk.iterdir()))
anyio.run(main)
"""


def test_a_full_disk_is_a_fact_and_no_failure(tmp_path: Path) -> None:
    words = ["unshare", "-rm", "sh", "-c", FULL, "sh", str(tmp_path), sys.executable, ON_FULL_DISK]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == "fine ['.json', '.output']\n"


async def test_a_command_that_never_was_leaves_nothing() -> None:
    await run(python("pass"))
    with nothing_left():
        for argv in (("/no/such",), ("/etc/passwd",), ("true", "a\0b"), ()):
            await run(Command(argv, {"PATH": os.defpath}))
    assert threads() == set()
