"""Starts behind a sandbox: what is passed, what is verified, and that all is given back."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from truepenny.config.settings import SandboxSettings
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import Cause, ExitFact, Leg, Outcome
from truepenny.execute.execution import Execution, StartFault
from truepenny.execute.outcome import classify
from truepenny.execute.process import run
from truepenny.execute.shell import classify_line, line_command, run_line
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.confinement import NotStarted, Refused
from truepenny.sandbox.level import Containment, Level
from truepenny.sandbox.plan import Profile
from truepenny.sandbox.planning import plan_for
from truepenny.sandbox.probe import probe_bwrap, probe_landlock
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.descendants import children

from .script import alive, python
from .stand_in import CONTAINMENT, Members, StandIn

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's"),
]

ESCAPEE = """
import os, sys
if os.fork():
    sys.exit(0)
os.setsid()
os.environ.clear()
if os.fork():
    os._exit(0)
os.write(1, b"%d\\n" % os.getpid())
os.close(1)
os.close(2)
os.execve("/bin/sleep", ["sleep", "60"], {})
"""


async def test_words_variables_and_descriptors_are_passed() -> None:
    read, write = os.pipe()
    sandbox = StandIn(
        words=("/usr/bin/env", "WORD=1"),
        descriptors=(write,),
        environment=lambda env: {**env, "MORE": "2"},
    )
    code = f"import os; os.write({write}, b'x'); print(os.environ['WORD'], os.environ['MORE'])"
    done = await run(python(code, sandbox=sandbox))
    assert done.stdout.text == "1 2\n"
    assert os.read(read, 5) == b"x"
    assert done.containment == CONTAINMENT
    assert (sandbox.opened, sandbox.closed) == (1, 1)
    os.close(read)
    os.close(write)


async def test_a_sandbox_that_cannot_be_made_says_so() -> None:
    for error in (CouldNotRun("the source is gone"), OSError(1, "no")):
        sandbox = StandIn(refuse=error)
        done = await run(python("pass", sandbox=sandbox))
        assert done.failure is not None
        assert done.failure.fault is StartFault.SANDBOX
        meaning = classify(done)
        assert (meaning.outcome, meaning.leg, meaning.reason) == (
            Outcome.CHANNEL_FAILED,
            Leg.NAMESPACE_ENTRY,
            "sandbox",
        )
        assert sandbox.closed == 0
    out = StandIn(refuse=OSError(24, "Too many open files"))
    done = await run(python("pass", sandbox=out))
    assert done.failure is not None
    assert done.failure.fault is StartFault.NO_RESOURCES


@pytest.mark.parametrize(
    ("changes", "argv", "cwd", "fault"),
    [
        ({}, ("no-such-program",), None, StartFault.MISSING_PROGRAM),
        ({}, ("/etc/passwd",), None, StartFault.NOT_EXECUTABLE),
        ({}, ("true",), Path("/no/such/folder"), StartFault.MISSING_DIRECTORY),
        ({}, ("true", "x" * 10_000_000), None, StartFault.UNUSABLE_ARGUMENTS),
        ({"words": ("/no/such/wrapper",)}, ("true",), None, StartFault.SANDBOX),
        ({"words": ("/etc/passwd",)}, ("true",), None, StartFault.SANDBOX),
    ],
)
async def test_a_start_that_fails_gives_everything_back(
    changes: dict[str, tuple[str, ...]], argv: tuple[str, ...], cwd: Path | None, fault: StartFault
) -> None:
    group = Members()
    sandbox = StandIn(group=group, **changes)  # type: ignore[arg-type]
    done = await run(Command(argv, {"PATH": os.defpath}, cwd=cwd, sandbox=sandbox))
    assert done.failure is not None
    assert done.failure.fault is fault
    assert (sandbox.opened, sandbox.closed) == (1, 1)
    assert group.log == ["kill", "remove"]


async def test_a_variable_that_a_sandbox_refuses_is_the_callers_mistake() -> None:
    def refuse(_: object) -> object:
        raise ConfigurationError("the variable LD_X cannot be passed on")

    sandbox = StandIn(environment=refuse)
    done = await run(python("pass", sandbox=sandbox))
    assert classify(done).outcome is Outcome.INVALID_ARGUMENTS
    assert sandbox.closed == 1


async def test_the_step_before_the_start_is_in_the_thread_that_starts() -> None:
    seen: list[int] = []
    sandbox = StandIn(before_start=lambda: seen.append(threading.get_native_id()))
    threads: list[int | None] = []

    def note(_: str, text: str) -> None:
        # One with a parent death signal would die with the thread that started it.
        names = {one.name: one.native_id for one in threading.enumerate()}
        threads.append(names.get("truepenny-start"))

    done = await run(python("print(1)", sandbox=sandbox), on_output=note)
    assert done.exit.observed == 0
    assert threads == seen != [threading.get_native_id()]
    for thread in threading.enumerate():
        if thread.name == "truepenny-start":
            thread.join(5)
            assert not thread.is_alive()


async def test_a_step_that_fails_starts_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise PermissionError(1, "Operation not permitted")

    sandbox = StandIn(before_start=fail)
    mark = tmp_path / "mark"
    done = await run(python(f"open({str(mark)!r}, 'w')", sandbox=sandbox))
    assert done.failure is not None
    assert done.failure.fault is StartFault.SANDBOX
    assert not mark.exists()
    assert sandbox.closed == 1


async def test_a_process_that_its_group_does_not_hold_is_ended() -> None:
    group = Members(holds=False)
    sandbox = StandIn(group=group)
    done = await run(python("import time; time.sleep(60)", sandbox=sandbox))
    assert done.failure is not None
    assert done.failure.fault is StartFault.SANDBOX
    assert done.duration < 5
    assert sandbox.closed == 1


async def test_members_of_the_group_are_ended_wherever_they_went() -> None:
    group = Members()
    sandbox = StandIn(group=group)
    pids: list[int] = []

    def note(_: str, text: str) -> None:
        # It cleared its environment, so only the group knows it.
        pids.append(int(text))
        group.pids.add(int(text))

    done = await run(python(ESCAPEE, sandbox=sandbox), on_output=note)
    assert done.leftovers == 1
    assert not alive(pids[0])
    assert group.log[-2:] == ["out_of_memory", "remove"]


@pytest.mark.parametrize("code", [0, 1])
async def test_memory_is_the_cause_where_the_kernel_says_so(code: int) -> None:
    sandbox = StandIn(group=Members(memory=True))
    done = await run(python(f"raise SystemExit({code})", sandbox=sandbox))
    # A program that succeeded all the same was not interrupted: one of its children was killed.
    assert done.cause is (Cause.MEMORY if code else None)
    assert done.memory_kill
    assert done.exit.observed == code


async def test_a_verdict_turns_a_code_into_a_failed_start() -> None:
    for why, fault in (
        (Refused.SANDBOX, StartFault.SANDBOX),
        (Refused.DIRECTORY, StartFault.MISSING_DIRECTORY),
        (Refused.MISSING, StartFault.MISSING_PROGRAM),
        (Refused.NOT_EXECUTABLE, StartFault.NOT_EXECUTABLE),
    ):
        told: list[tuple[int | None, str]] = []

        def verdict(
            code: int | None,
            stderr: str,
            why: Refused = why,
            told: list[tuple[int | None, str]] = told,
        ) -> NotStarted:
            told.append((code, stderr))
            return NotStarted(why, "not there")

        sandbox = StandIn(verdict=verdict)
        code = "import sys; sys.stderr.write('said'); sys.exit(9)"
        done = await run(python(code, sandbox=sandbox))
        assert told == [(9, "said")]
        assert done.failure is not None
        assert (done.failure.fault, done.failure.message) == (fault, "not there")
        assert done.exit == ExitFact()
        assert done.stderr.text == "said"
        assert done.containment == CONTAINMENT


async def test_cancelling_gives_everything_back() -> None:
    sandbox = StandIn(group=Members(), before_start=lambda: None)
    with anyio.CancelScope() as scope:
        await run(
            python("import time\nprint(1, flush=True)\ntime.sleep(60)", sandbox=sandbox),
            on_output=lambda *_: scope.cancel(),
        )
    assert scope.cancelled_caught
    assert (sandbox.opened, sandbox.closed) == (1, 1)


async def test_of_a_namespace_a_signal_is_only_heard_of() -> None:
    bwrap = StandIn(containment=Containment(Level.BWRAP))
    done = await run(python("raise SystemExit(137)", sandbox=bwrap))
    assert done.exit == ExitFact(observed=137, effective=137)
    assert done.cause is None
    meaning = classify(done)
    assert (meaning.outcome, meaning.reason) == (Outcome.TARGET_FAILED, "exit_137_or_signal_9")
    bare = await run(python("raise SystemExit(137)"))
    assert classify(bare).reason == ""


def sandbox(folder: Path, level: Level) -> Sandbox:
    settings = SandboxSettings()
    plan = plan_for(Profile.COMMAND, folder, account_for(folder, None), settings)
    return open_sandbox(plan, level.value)


def levels(folder: Path) -> list[Level]:
    """What works on this machine; `none` always does."""
    account = account_for(folder, None)
    found = [
        probe.level for probe in (probe_bwrap(account), probe_landlock(account)) if probe.works
    ]
    return [Level.NONE, *found]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A workspace that another account can enter: pytest's own folders are private."""
    with tempfile.TemporaryDirectory(prefix="truepenny-test-") as path:
        os.chmod(path, 0o777)
        yield Path(path).resolve()


async def line(text: str, folder: Path, level: Level, timeout: float = 20.0) -> Execution:
    return await run_line(
        line_command(
            text,
            env={"PATH": os.defpath},
            cwd=folder,
            timeout=timeout,
            sandbox=sandbox(folder, level),
        )
    )


async def test_lines_in_each_level_there_is(folder: Path) -> None:
    for level in levels(folder):
        done = await line("false | true", folder, level)
        assert done.containment.level is level
        assert done.exit.stages == (1, 0)
        done = await line("yes | head -n 1", folder, level)
        assert (done.exit.stages, done.exit.effective) == ((141, 0), 0)
        done = await line("no-such-program", folder, level)
        assert classify_line(done, "no-such-program").outcome is Outcome.MISSING_DEPENDENCY
        done = await line("trap 'echo bye; exit 3' TERM; sleep 30 & wait", folder, level, 0.5)
        # It was asked to end, and could do so in its own way.
        assert (done.cause, done.exit.observed, done.stdout.text) == (Cause.TIMEOUT, 3, "bye\n")


async def test_programs_in_each_level_there_is(folder: Path) -> None:
    for level in levels(folder):
        held = sandbox(folder, level)
        for argv, fault in (
            (("no-such-program",), StartFault.MISSING_PROGRAM),
            (("/etc/passwd",), StartFault.NOT_EXECUTABLE),
        ):
            done = await run(Command(argv, {"PATH": os.defpath}, cwd=folder, sandbox=held))
            assert done.failure is not None
            assert done.failure.fault is fault
        done = await run(Command(("true",), {"PATH": os.defpath}, cwd=folder / "no", sandbox=held))
        assert done.failure is not None
        assert done.failure.fault is StartFault.MISSING_DIRECTORY


async def test_what_holds_a_program_is_nothing_that_it_left_behind(folder: Path) -> None:
    # Bubblewrap's own first process ends a moment after what we started: one time in ten.
    for level in levels(folder):
        done = [await line("true", folder, level) for _ in range(30)]
        assert {one.exit.observed for one in done} == {0}
        assert {one.leftovers for one in done} == {0}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("sleep 60 & echo x", 1),
        ("sleep 60 >/dev/null 2>&1 & setsid -f sleep 60; false | true", 2),
        ("set -efu; (sleep 60 &); exit 3", 1),
        ("sleep 0.01 & wait", 0),
        ("(exit 0) & sleep 0.05", 0),
    ],
)
async def test_what_a_line_leaves_behind_is_counted_at_every_level(
    folder: Path, text: str, count: int
) -> None:
    for level in levels(folder):
        for _ in range(3):
            assert (await line(text, folder, level)).leftovers == count, level


async def test_what_nobody_could_count_is_not_none_left(folder: Path) -> None:
    # Bubblewrap's namespace ends with the shell, and no trap of ours had its turn.
    for level in levels(folder):
        done = await line("sleep 60 & exec true", folder, level)
        assert done.leftovers is None or done.leftovers == 1
        assert level is Level.BWRAP or done.leftovers == 1
        if level is Level.BWRAP:
            for text in ("exec true", "trap : EXIT", "kill -9 $$"):
                assert (await line(text, folder, level)).leftovers is None, text


_CLOSE = (
    'for one in /proc/$$/fd/*; do n=${one##*/}; [ "$n" -gt 2 ] && eval "exec $n>&-"; done '
    "2>/dev/null; "
)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        # With our report's descriptor closed, `set -e` must not end it by a status of ours.
        (_CLOSE + "set -e; exit 0", 0, ""),
        (_CLOSE + "set -e; exit 3", 3, ""),
        ("set -eE; trap 'echo caught' ERR; readonly REPLY OPTARG; exit 4", 4, ""),
        # Descriptors that a line opens for itself take nothing of ours.
        ("exec 3>&1 4>&1 5>&1 6>&1 7>&1 8>&1 9>&1 10>&1 11>&1 200>&1; echo x", 0, "x\n"),
        ("set -v\necho x | cat", 0, "x\necho x | cat\n"),
        ("if true; then set -o verbose; fi\ntrue", 0, "true\n"),
        ("true | cat; trap", 0, ""),
        ("trap -p | cat", 0, ""),
        ("exec 5>&1; BASH_XTRACEFD=5; PS4=; set -x; true | true", 0, "true\ntrue\n"),
        ("ulimit -n 3; exit 5", 5, ""),
        ("ulimit -f 0; exit 6", 6, ""),
    ],
)
async def test_counting_shows_and_changes_nothing_of_the_line(
    folder: Path, text: str, code: int, said: str
) -> None:
    for level in levels(folder):
        done = await line(text, folder, level)
        assert (done.exit.observed, done.stdout.text + done.stderr.text) == (code, said), level


async def test_a_report_that_fills_its_room_is_none(folder: Path) -> None:
    # As four thousand processes would: how many more there were nobody knows.
    text = (
        "for f in /proc/$$/fd/*; do case $(readlink $f) in *stages*) N=${f##*/};; esac; done; "
        'T=$(builtin trap -p EXIT); T=${T#*\\" }; T=${T%% *}; '
        "(printf '%s 0 0 ' $T; head -c 4080 /dev/zero | tr '\\0' .) >&$N; exit 0"
    )
    for level in levels(folder):
        if level is Level.BWRAP:
            done = await line(text, folder, level)
            assert (done.exit.observed, done.leftovers) == (0, None)


async def test_nothing_is_left_of_any_level(folder: Path) -> None:
    lines = (
        "sleep 60 >/dev/null 2>&1 & setsid sleep 60 >/dev/null 2>&1 & true",
        "(setsid setsid sleep 60 >/dev/null 2>&1 &); exit 3",
        "kill -9 $$",
    )
    for level in levels(folder):
        await line("true", folder, level)
        before = set(os.listdir("/proc/self/fd"))
        # Tests that start bubblewrap by themselves leave its first process to be buried.
        others = set(children(os.getpid()))
        for text in lines:
            await line(text, folder, level)
        assert set(os.listdir("/proc/self/fd")) == before
        ours = set(children(os.getpid())) - others
        assert [pid for pid in ours if _name(pid) in ("sleep", "bwrap")] == []


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


async def test_the_cap_ends_what_is_inside(folder: Path) -> None:
    for level in levels(folder):
        command = Command(
            ("yes",),
            {"PATH": os.defpath},
            cwd=folder,
            limits=CaptureLimits(stop_after=1_000_000),
            sandbox=sandbox(folder, level),
        )
        done = await run(command)
        assert classify(done).outcome is Outcome.TRUNCATED
        assert done.duration < 10
        assert done.exit.signal in (None, signal.SIGTERM, signal.SIGKILL)


async def test_one_that_is_ended_before_it_began_was_stopped_and_the_sandbox_did_not_fail() -> None:
    code = "import os, signal\nsignal.signal(15, lambda *_: os._exit(143))\n"
    never = StandIn(verdict=lambda code, _: NotStarted(Refused.SANDBOX, f"exit code {code}"))
    done = await run(python(code + "signal.pause()", sandbox=never, timeout=0.5))
    assert (done.failure, done.cause, done.exit) == (None, Cause.TIMEOUT, ExitFact())
    assert classify(done).outcome is Outcome.INTERRUPTED
