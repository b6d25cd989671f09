"""Killed outright, we leave no process: checked on a victim that runs something."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from truepenny.execute.guard import NAME, Guard
from truepenny.system.process_identity import ProcessStat

from .script import alive

WAIT = 10.0

# What is run: two processes that tell their ids and would go on for a minute, asked to end or not.
LONG = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
os.write(1, b"%d\\n" % os.getpid())
time.sleep(60)
"""

VICTIM = f"""
import sys, anyio
from truepenny.execute.command import Command
from truepenny.execute.process import run
command = Command((sys.executable, "-I", "-S", "-c", {LONG!r}), {{}}, timeout=60)
def tell(stream, text):
    print(text, end="", flush=True)
async def main():
    await run(Command(("/bin/sh", "-c", "exit 0"), {{}}))
    await run(command, on_output=tell)
anyio.run(main)
"""


def leader(code: str = "import time; time.sleep(60)") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code], start_new_session=True)


def gone(pid: int) -> bool:
    """Whether a process ends in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], WAIT)[0])
    finally:
        os.close(handle)


def guards(parent: int) -> list[int]:
    """The guards that a process started."""
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                stat = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] == NAME.encode() and int(stat[1]) == parent and stat[0] != "Z":
            found.append(int(entry))
    return found


# One that left its group and its session, and lost its parent.
ESCAPED = """
import os, time
if os.fork():
    time.sleep(60)
os.setsid()
if os.fork():
    os._exit(0)
os.write(1, b"%d\\n" % os.getpid())
time.sleep(60)
"""

# What holds the process is a control group, where one is delegated to us.
CONFINED = """
import os, sys, anyio
from pathlib import Path
from truepenny.config.settings import SandboxSettings
from truepenny.execute.command import Command
from truepenny.execute.process import run
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.plan import Profile
from truepenny.sandbox.planning import plan_for
folder = Path(sys.argv[1])
plan = plan_for(Profile.COMMAND, folder, account_for(folder, None), SandboxSettings())
sandbox = open_sandbox(plan, "none")
confine = sandbox.confine
def noted(cwd):
    made = confine(cwd)
    print(*(made.group.directories if made.group else ()), flush=True)
    return made
sandbox.confine = noted
line = "env -i setsid sh -c 'echo $$; exec sleep 60'"
def tell(stream, text):
    print(text, end="", flush=True)
anyio.run(lambda: run(Command(("/bin/sh", "-c", line), {"PATH": os.defpath}, cwd=folder,
                              sandbox=sandbox), on_output=tell))
"""


# The same, and only a thread besides the first goes on.
IN_A_THREAD = ESCAPED.replace("import os,", "import ctypes, os, threading,").replace(
    "\ntime.sleep(60)",
    "\nthreading.Thread(target=time.sleep, args=(60,)).start()\nctypes.CDLL(None).pthread_exit(0)",
)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("escaped", [ESCAPED, IN_A_THREAD], ids=["whole", "in a thread"])
def test_killed_outright_we_leave_none_in_another_session_either(escaped: str) -> None:
    code = VICTIM.replace(repr(LONG), repr(escaped))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        pid = int(victim.stdout.readline())
        assert os.path.exists(f"/proc/{pid}")
        victim.kill()
        assert victim.stdout.read() == b""
    assert gone(pid)


# Killed while the start is being made: nobody told of its group yet.
AMIDST = f"""
import os, signal
import truepenny.execute.start as start
spawn = start._spawn
def halting(*arguments):
    print(spawn(*arguments).pid, flush=True)
    signal.pause()
{
    VICTIM.replace(repr(LONG), repr("import time; time.sleep(60)")).replace(
        "    await run(command,", "    start._spawn = halting; await run(command,"
    )
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_killed_outright_amidst_a_start_we_leave_no_process() -> None:
    with subprocess.Popen([sys.executable, "-c", AMIDST], stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        pid = int(victim.stdout.readline())
        assert alive(pid)
        victim.kill()
    try:
        assert gone(pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_start_that_was_killed_amidst_leaves_no_control_group(tmp_path: Path) -> None:
    made, given_up = tmp_path / "made", tmp_path / "given_up"
    for folder in (made, given_up):
        folder.mkdir()
    guard = Guard()
    guard.expect([str(made)])
    guard.release(guard.expect([str(given_up)]))
    guard.close()
    assert (made.exists(), given_up.exists()) == (False, True)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_killed_outright_we_leave_no_control_group() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        argv = [sys.executable, "-c", CONFINED, os.path.realpath(folder)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as victim:
            assert victim.stdout is not None
            groups = victim.stdout.readline().decode().split()
            pid = int(victim.stdout.readline())
            assert alive(pid)
            assert all(os.path.isdir(group) for group in groups)
            (guard,) = guards(victim.pid)
            victim.kill()
            victim.stdout.read() if groups else None
        assert gone(guard)
    if groups:
        assert gone(pid)
    else:
        # Nothing is delegated to us here: one that cleared its environment is out of reach.
        os.kill(pid, signal.SIGKILL)
    assert not any(os.path.exists(group) for group in groups)


def test_a_folder_with_an_odd_name_is_released_as_well(tmp_path: Path) -> None:
    names = ("a\\x2db", "[a]*", "with blank", "with:colon")
    folders = [tmp_path / name for name in names]
    guard, process = Guard(), leader()
    for folder in folders:
        folder.mkdir()
    guard.hold(process.pid, [str(folder) for folder in folders])
    guard.release(process.pid)
    guard.close()
    assert process.poll() is None
    assert all(folder.is_dir() for folder in folders)
    guard.hold(process.pid, [str(folder) for folder in folders])
    guard.close()
    assert process.wait(WAIT) == -signal.SIGKILL
    # Names that its lines cannot carry are not told.
    assert [folder.name for folder in folders if folder.exists()] == ["with blank", "with:colon"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_killed_outright_we_leave_no_process() -> None:
    with subprocess.Popen([sys.executable, "-c", VICTIM], stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        pids = [int(victim.stdout.readline()) for _ in range(2)]
        (guard,) = guards(victim.pid)
        assert all(alive(pid) for pid in pids)
        victim.send_signal(signal.SIGKILL)
        # It holds nothing of ours: our end of the pipe closes with the last of the group.
        assert victim.stdout.read() == b""
    assert all(gone(pid) for pid in pids)
    assert gone(guard)


def test_what_was_released_lives_on() -> None:
    guard = Guard()
    kept, held, last = leader(), leader(), leader()
    for process in (kept, held, last):
        guard.hold(process.pid)
    guard.release(kept.pid)
    guard.release(last.pid)
    guard.release(last.pid)
    guard.close()
    assert held.wait(WAIT) == -signal.SIGKILL
    for process in (kept, last):
        assert process.poll() is None
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_guard_that_was_killed_is_replaced_and_told_everything() -> None:
    guard, others = Guard(), set(guards(os.getpid()))
    first, second = leader(), leader()
    guard.hold(first.pid)
    # It has its name a moment after it was started.
    while not (started := set(guards(os.getpid())) - others):
        pass
    (shell,) = started
    os.kill(shell, signal.SIGKILL)
    assert gone(shell)
    guard.hold(second.pid)
    guard.close()
    assert first.wait(WAIT) == second.wait(WAIT) == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells a start")
def test_a_guard_that_is_too_slow_ends_nothing_and_hears_the_rest_later() -> None:
    guard, early, late = Guard(), leader(), leader()
    guard.hold(early.pid)
    assert guard._process is not None  # pyright: ignore[reportPrivateUsage]
    pid = guard._process.pid  # pyright: ignore[reportPrivateUsage]
    os.kill(pid, signal.SIGSTOP)
    for _ in range(5000):
        guard.release(guard.expect())
    guard.hold(late.pid)
    assert (early.poll(), late.poll()) == (None, None)
    os.kill(pid, signal.SIGCONT)
    guard.release(early.pid)
    # It reads what was waiting in its pipe; then there is room again.
    while guard._news():  # pyright: ignore[reportPrivateUsage]
        pipe = guard._pipe  # pyright: ignore[reportPrivateUsage]
        select.select([], [pipe], [], WAIT)
        guard.release(guard.expect())
    guard.close()
    assert late.wait(WAIT) == -signal.SIGKILL
    assert early.poll() is None
    early.kill()
    early.wait()


def test_a_number_that_was_given_away_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    guard, stranger = Guard(), leader()
    monkeypatch.setattr("truepenny.execute.guard.read_stat", _earlier)
    guard.hold(stranger.pid)
    guard.close()
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def _earlier(pid: int) -> ProcessStat:
    return ProcessStat(pid, "S", 1, pid, pid, 1, start=1)


def test_without_a_shell_everything_else_works() -> None:
    guard, process = Guard(shell="/nowhere/sh"), leader()
    guard.hold(process.pid)
    guard.release(process.pid)
    guard.close()
    assert process.poll() is None
    process.kill()
    process.wait()


def test_a_fork_has_a_guard_of_its_own() -> None:
    # In a process of its own: this one may have threads, which do not fork well.
    code = """
import os, signal, subprocess, sys
from truepenny.execute.guard import Guard
def leader():
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                            start_new_session=True)
guard, process = Guard(), leader()
guard.hold(process.pid)
if not (child := os.fork()):
    own = leader()
    guard.hold(own.pid)
    guard.close()
    os._exit(0 if own.wait(10) == -signal.SIGKILL else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert process.poll() is None
guard.close()
assert process.wait(10) == -signal.SIGKILL
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_a_guard_that_was_started_before_holds_what_comes() -> None:
    guard = Guard()
    guard.start()
    guard.start()
    process = leader()
    guard.hold(process.pid)
    guard.close()
    assert process.wait(WAIT) == -signal.SIGKILL
