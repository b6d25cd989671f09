"""What a run reports, checked with real processes."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

import anyio
import pytest

from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import ByteCounts, Cause, ExitFact, Outcome
from truepenny.execute.execution import StartFault
from truepenny.execute.outcome import classify
from truepenny.execute.process import DRAIN_SECONDS, Running, begin, run
from truepenny.text.bound import Limits
from truepenny.text.redact import Redactor

from .script import alive, python

pytestmark = pytest.mark.anyio

# A child that outlives its parent, tells its own id first, and would run for a minute.
LINGER = """
import os, sys, time
if os.fork():
    sys.exit({code})
{before}
os.write(1, b"%d\\n" % os.getpid())
{after}
time.sleep(60)
"""


async def test_exit_code_and_streams() -> None:
    done = await run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert done.exit == ExitFact(observed=3, effective=3)
    assert done.cause is None
    assert (done.stdout.text, done.stderr.text) == ("out\n", "err\n")
    assert done.stdout.bytes == ByteCounts(observed=4, kept=4)
    assert done.drained
    assert done.leftovers == 0


async def test_a_signal_is_a_signal_and_not_a_code() -> None:
    done = await run(python("import os; os.kill(os.getpid(), 9)"))
    assert done.exit == ExitFact(signal=signal.SIGKILL)
    assert done.cause is Cause.SIGNAL


async def test_standard_input_is_empty_unless_given() -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    assert (await run(python(code))).stdout.text == "0\n"
    done = await run(python(code, stdin=b"x" * 300_000))
    assert done.stdout.text == "300000\n"
    assert done.stdin_taken == 300_000


async def test_input_that_nobody_reads_is_no_failure() -> None:
    done = await run(python("import os; os.close(0); print('done')", stdin=b"x" * 1_000_000))
    assert done.exit.observed == 0
    assert done.stdin_taken < 1_000_000


async def test_nothing_is_inherited() -> None:
    done = await run(python("import os; print(sorted(os.environ))", env={"ONLY": "this"}))
    names = done.stdout.text.replace("'LC_CTYPE', ", "")
    assert names == "['ONLY', 'TRUEPENNY_RUN']\n"


async def test_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    code = "import os, time\nos.fork()\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(60)"
    done = await run(python(code, timeout=0.5))
    assert done.cause is Cause.TIMEOUT
    assert done.exit == ExitFact(signal=signal.SIGTERM)
    assert done.duration < 5
    pids = [int(pid) for pid in done.stdout.text.split()]
    assert len(pids) == 2
    assert not any(alive(pid) for pid in pids)


async def test_who_ignores_the_request_to_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truepenny.execute.child.GRACE_SECONDS", 0.1)
    code = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint(1, flush=True)\n"
    done = await run(python(code + "time.sleep(60)", timeout=1.0))
    assert done.cause is Cause.TIMEOUT
    assert done.exit == ExitFact(signal=signal.SIGKILL)


async def test_a_background_child_that_holds_the_pipe_does_not_hang_the_caller() -> None:
    done = await run(python(LINGER.format(code=0, before="", after="")))
    assert done.exit == ExitFact(observed=0, effective=0)
    assert not done.drained
    assert done.leftovers == 1
    assert done.duration < 5
    assert not alive(int(done.stdout.text))


async def test_a_background_child_that_let_go_of_the_pipe_is_found_too() -> None:
    after = "os.close(1); os.close(2)"
    done = await run(python(LINGER.format(code=7, before="", after=after)))
    assert done.exit.observed == 7
    assert done.drained
    assert done.leftovers == 1
    assert not alive(int(done.stdout.text))


async def test_a_child_in_another_session_is_ended_too_and_does_not_hang_the_caller() -> None:
    done = await run(python(LINGER.format(code=0, before="os.setsid()", after="")))
    assert not done.drained
    assert done.leftovers == 1
    assert done.duration < 5
    assert not Path(f"/proc/{int(done.stdout.text)}").exists()


async def test_a_pipe_held_outside_the_run_is_not_waited_for() -> None:
    ours, theirs = socket.socketpair()
    code = f"""
import os, socket
there = socket.socket(fileno={theirs.fileno()})
socket.send_fds(there, [b"x"], [1])
os.write(1, b"z" * 200_000)
"""
    done = await run(python(code, descriptors=(theirs.fileno(),)))
    _, held, _, _ = socket.recv_fds(ours, 1, 1)
    assert done.stdout.bytes.observed == 200_000
    assert (done.exit.observed, done.drained, done.leftovers) == (0, False, 0)
    assert done.duration < DRAIN_SECONDS
    os.close(held[0])
    ours.close()
    theirs.close()


async def test_without_orphans_handed_to_us_the_session_is_still_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("truepenny.execute.child.adopt_orphans", lambda: False)
    done = await run(python(LINGER.format(code=0, before="os.setpgid(0, 0)", after="")))
    assert done.leftovers == 1
    assert not alive(int(done.stdout.text))


async def test_a_stop_that_comes_too_late_is_not_the_cause() -> None:
    running = begin(python("raise SystemExit(4)"))
    assert isinstance(running, Running)
    os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
    running.stop()
    done = await running.supervise()
    assert (done.exit.observed, done.cause) == (4, None)
    assert not running.stopped


async def test_cancelling_ends_the_group_before_it_propagates() -> None:
    seen: list[str] = []
    code = "import os, time\nos.fork()\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(60)"
    with anyio.CancelScope() as scope:

        def note(_: str, text: str) -> None:
            seen.append(text)
            if "".join(seen).count("\n") == 2:
                scope.cancel()

        await run(python(code), on_output=note)
    assert scope.cancelled_caught
    assert not any(alive(int(pid)) for pid in "".join(seen).split())


async def test_a_listener_that_fails_leaves_nothing_behind() -> None:
    seen: list[int] = []

    def fail(_: str, text: str) -> None:
        seen.append(int(text))
        raise RuntimeError("listener")

    code = "import os, time\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(60)"
    with pytest.raises(ExceptionGroup):
        await run(python(code), on_output=fail)
    assert not alive(seen[0])


async def test_a_status_that_somebody_else_took_stays_unknown() -> None:
    def steal(_: str, text: str) -> None:
        os.waitpid(int(text), 0)

    code = "import os\nos.write(1, b'%d\\n' % os.getpid())"
    done = await run(python(code), on_output=steal)
    assert done.exit == ExitFact()
    assert done.cause is None
    meaning = classify(done)
    assert (meaning.outcome, meaning.reason) == (Outcome.INTERRUPTED, "exit_unknown")


async def test_the_output_cap_stops_the_process() -> None:
    code = "import os\nwhile True: os.write(1, b'y\\n' * 4096)"
    done = await run(python(code, limits=CaptureLimits(stop_after=1_000_000)))
    assert done.cause is Cause.OUTPUT_CAP
    assert 1_000_000 < done.stdout.bytes.observed < 1_200_000
    assert not done.drained
    assert done.duration < 10


async def test_cuts_are_counted_and_the_process_runs_on() -> None:
    code = "for n in range(10000): print(n)"
    done = await run(python(code, limits=CaptureLimits(stdout=Limits(bytes=1000))))
    counts = done.stdout.bytes
    assert done.exit.observed == 0
    assert done.stdout.cut
    assert done.stdout.lines == 10_000
    assert counts.observed == sum(len(f"{n}\n") for n in range(10_000))
    assert counts.observed == counts.kept + counts.discarded
    assert counts.kept <= 1000
    assert done.stdout.text.startswith("0\n1\n")
    assert done.stdout.text.endswith("9999\n")


async def test_bytes_that_are_not_text_are_named() -> None:
    done = await run(python("import os; os.write(1, b'ok\\xff\\n')"))
    assert done.stdout.bad_count == 1
    assert done.stdout.bad_bytes[0].offset == 2
    assert "\ufffd" not in done.stdout.text


async def test_a_secret_across_two_writes_never_reaches_anybody() -> None:
    redactor = Redactor()
    redactor.learn("correct-horse-battery", "test")
    code = "import os, time\nos.write(1, b'a correct-hor')\ntime.sleep(.05)\n"
    code += "os.write(1, b'se-battery b\\n')"
    seen: list[str] = []
    done = await run(python(code, redactor=redactor), on_output=lambda _, text: seen.append(text))
    assert "battery" not in done.stdout.text + "".join(seen)
    assert sum(done.stdout.redactions.values()) == 1
    assert "".join(seen) == done.stdout.text


async def test_long_lines_and_late_output_arrive_whole() -> None:
    done = await run(
        python("print('x' * 5_000_000)", limits=CaptureLimits(stdout=Limits(bytes=6_000_000)))
    )
    assert len(done.stdout.text) == 5_000_001


@pytest.mark.parametrize("many", [20])
async def test_runs_side_by_side_do_not_mix(many: int) -> None:
    results: dict[int, str] = {}

    async def one(number: int) -> None:
        results[number] = (await run(python(f"print({number})"))).stdout.text

    before = len(os.listdir("/proc/self/fd"))
    async with anyio.create_task_group() as tasks:
        for number in range(many):
            tasks.start_soon(one, number)
    assert results == {number: f"{number}\n" for number in range(many)}
    assert len(os.listdir("/proc/self/fd")) == before


def _file(path: Path, text: str, mode: int) -> str:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


async def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path)}

    async def fault(*argv: str, cwd: Path | None = None) -> StartFault | None:
        done = await run(Command(argv, env, cwd=cwd))
        assert done.exit == ExitFact()
        return done.failure and done.failure.fault

    assert await fault("no-such-program") is StartFault.MISSING_PROGRAM
    assert await fault("/no/such/program") is StartFault.MISSING_PROGRAM
    plain = _file(tmp_path / "plain", "text", 0o644)
    assert await fault(plain) is StartFault.NOT_EXECUTABLE
    assert await fault("plain") is StartFault.NOT_EXECUTABLE
    assert await fault(str(tmp_path)) is StartFault.NOT_EXECUTABLE
    assert await fault(_file(tmp_path / "junk", "\0junk", 0o755)) is StartFault.NOT_EXECUTABLE
    lost = _file(tmp_path / "lost", "#!/no/such/interpreter\n", 0o755)
    assert await fault(lost) is StartFault.MISSING_INTERPRETER
    assert await fault(sys.executable, cwd=tmp_path / "gone") is StartFault.MISSING_DIRECTORY
    assert await fault() is StartFault.UNUSABLE_ARGUMENTS
    assert await fault(sys.executable, "a\0b") is StartFault.UNUSABLE_ARGUMENTS
    assert await fault(sys.executable, "x" * 10_000_000) is StartFault.UNUSABLE_ARGUMENTS


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/a:/b", "(/a:/b)"),
        (":".join(["/folder"] * 40), f"({':'.join(['/folder'] * 15)}:… 40 folders in all)"),
        ("/" + "x" * 500, f"(/{'x' * 119}:… 1 folder in all)"),
    ],
)
async def test_of_a_long_path_a_part_is_shown(path: str, shown: str) -> None:
    done = await run(Command(("no-such-program",), {"PATH": path}))
    assert done.failure is not None
    assert done.failure.message == f"there is no program no-such-program on PATH {shown}"


def memory(field: str) -> int:
    """Return a field of this process's memory, in KiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition(f"{field}:")[2].split()[0])


@pytest.mark.slow
async def test_memory_stays_flat_over_a_hundred_megabytes() -> None:
    block = "import os\nline = b'the quick brown fox jumps over the lazy dog\\n' * 1490\n"
    await run(python(block + "for _ in range(50): os.write(1, line)", redactor=Redactor()))
    # Forgets earlier peaks of this process, which would hide a new one.
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = memory("VmRSS")
    code = block + "for _ in range(1600): os.write(1, line)"
    done = await run(python(code, redactor=Redactor(), timeout=120.0))
    assert done.stdout.bytes.observed == 1600 * 1490 * 44
    assert memory("VmHWM") - before < 8 * 1024


async def test_the_clock_of_a_run_is_wall_time() -> None:
    began = time.monotonic()
    done = await run(python("pass"))
    assert 0 < done.duration <= time.monotonic() - began


async def test_a_descriptor_is_passed_on_under_its_own_number() -> None:
    ours, theirs = os.pipe()
    try:
        code = f"import os; os.write({theirs}, b'here')"
        done = await run(python(code, descriptors=(theirs,)))
        assert done.exit.observed == 0
        assert os.read(ours, 10) == b"here"
    finally:
        os.close(ours)
        os.close(theirs)
