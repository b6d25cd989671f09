"""Both ends: a real server process, and what is known when it dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.execute.script import alive
from tests.execute.test_faults import MOST_POINTS, Points, nothing_left
from tests.exhaustion import exhausted
from truepenny.errors import CouldNotRun
from truepenny.tool.codec import encode_result
from truepenny.tool.outcome import Cause, Leg, Outcome
from truepenny.tool.result import Facts, Result
from truepenny.workspace.server import client
from truepenny.workspace.server.client import Start, ToolServer, open_server
from truepenny.workspace.server.protocol import PROTOCOL

from .world import PATH, hello, server

pytestmark = pytest.mark.anyio

LINGER = "echo $PPID $$ > ids.part; mv ids.part ids; exec sleep 60"


async def until(done: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not done():
            await anyio.lowlevel.checkpoint()
            await anyio.to_thread.run_sync(os.sched_yield)


async def ids(tmp_path: Path) -> tuple[int, int]:
    """Return the process ids of the server and of the command that LINGER started in it."""
    file = tmp_path / "work" / "ids"
    await until(file.exists)
    parent, own = file.read_text(encoding="utf-8").split()
    return int(parent), int(own)


async def test_results_come_whole_and_side_by_side(tmp_path: Path) -> None:
    async with server(tmp_path) as found:
        done: dict[str, Result] = {}

        async def call(number: int) -> None:
            name, content = f"f{number}", f"{number}\n"
            await found.call("write", {"path": name, "content": content})
            done[name] = await found.call("read", {"path": name})

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(call, number)
        assert {name: result.text for name, result in done.items()} == {
            f"f{number}": f"{number}\n" for number in range(20)
        }
        assert all(result.facts.detail["total_lines"] == 1 for result in done.values())
    late = await found.call("read", {"path": "f1"})
    assert (late.outcome, late.facts.leg) == (Outcome.CHANNEL_FAILED, Leg.TRANSPORT)
    assert late.facts.detail["may_have_run"] is False


async def test_a_cancelled_call_stops_inside_and_the_server_lives_on(tmp_path: Path) -> None:
    async with server(tmp_path) as found:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(found.call, "bash", {"command": LINGER})
            _, command = await ids(tmp_path)
            tasks.cancel_scope.cancel()
        assert not alive(command)
        assert (await found.call("find", {"pattern": "ids"})).outcome is Outcome.SUCCESS


async def test_a_killed_server_interrupts_its_calls_and_takes_no_more(tmp_path: Path) -> None:
    results: list[Result] = []

    async def call(found: ToolServer) -> None:
        results.append(await found.call("bash", {"command": LINGER}))

    async with server(tmp_path) as found:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, found)
            process, command = await ids(tmp_path)
            os.kill(process, signal.SIGKILL)
        assert not found.alive
        later = await found.call("find", {"pattern": "*"})
    [result] = results
    assert (result.outcome, result.facts.cause) == (Outcome.INTERRUPTED, Cause.SIGNAL)
    assert result.facts.detail["may_have_run"] is True
    assert "signal 9" in result.text
    assert result.facts.completeness.state == "unknown"
    assert later.outcome is Outcome.CHANNEL_FAILED
    await until(lambda: not alive(command))


async def test_a_parent_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    hello(tmp_path)
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.workspace.server.victim", str(tmp_path)],
        cwd=Path(__file__).parents[3],
    )
    try:
        process, command = await ids(tmp_path)
    finally:
        parent.kill()
        parent.wait()
    await until(lambda: not alive(process) and not alive(command))


async def test_an_error_of_the_caller_is_that_error_and_ends_the_server(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with server(tmp_path) as found:
            raise ZeroDivisionError
    assert not found.alive
    assert found.execution is not None
    assert found.execution.exit.observed == 0


async def test_nothing_stays_open(tmp_path: Path) -> None:
    async with server(tmp_path):
        pass
    before = sorted(os.listdir("/proc/self/fd"))
    async with server(tmp_path):
        pass
    assert sorted(os.listdir("/proc/self/fd")) == before


async def test_arguments_that_fit_no_frame_are_not_sent(tmp_path: Path) -> None:
    async with server(tmp_path) as found:
        content = "x" * (33 * 1024 * 1024)
        result = await found.call("write", {"path": "a", "content": content})
        assert result.outcome is Outcome.INVALID_ARGUMENTS
        result = await found.call("read", {"path": "\ud800"})
        assert result.outcome is Outcome.INVALID_ARGUMENTS
        assert (await found.call("find", {"pattern": "*"})).outcome is Outcome.NO_MATCH


async def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    words = hello(tmp_path)
    with pytest.raises(CouldNotRun, match="no program"):
        async with open_server(Start(words, {"PATH": PATH}, python=("/none/python",))):
            raise AssertionError("it has no interpreter")
    with pytest.raises(CouldNotRun, match="ModuleNotFoundError"):
        async with open_server(Start(words, {"PATH": PATH}, python=(sys.executable, "-I", "-S"))):
            raise AssertionError("it has no packages")
    with pytest.raises(CouldNotRun, match="it gave up: version 9"):
        async with server(tmp_path, protocol=9):
            raise AssertionError("it speaks another version")


# A peer in the place of the server: it reads the hello and answers by what the test gives it.
RUDE = """
import socket, sys
peer = socket.socket(fileno=int(sys.argv[-1]))
peer.recv(1 << 20)
ready = b'{"type":"ready","protocol":1,"tools":["read"]}'
peer.sendall(len(ready).to_bytes(4, "big") + ready)
peer.recv(1 << 20)
peer.sendall(%r)
peer.recv(1)
"""


# Few enough for a reader of JSON, too many for whoever walks through it.
_SOME = encode_result(Result(Outcome.SUCCESS, (), Facts(detail={"x": 0})))
DEEP = (
    b'{"type":"result","id":"call_1","result":%s}'
    % json.dumps(_SOME).replace('"x": 0', '"x": ' + "[" * 900 + "]" * 900).encode()
)


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


@pytest.mark.parametrize(
    "answer",
    [
        b"\xff\xff\xff\xff",
        framed(b"garbage"),
        framed(b'{"type":"ready","protocol":1,"tools":["read"]}'),
        framed(b'{"type":"result","id":"call_1","result":{"outcome":"success"}}'),
        framed(DEEP),
        framed(b'{"type":"shutdown"}'),
        framed(b'{"type":"fatal","message":"no more"}'),
    ],
)
async def test_what_is_no_answer_ends_the_server_and_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    from truepenny.system.ids import CountingIds

    monkeypatch.setattr(client, "BOOT", RUDE % answer)
    start = Start(hello(tmp_path), {"PATH": PATH})
    async with open_server(start, ids=CountingIds()) as found:
        result = await found.call("read", {"path": "x"})
        assert result.outcome is Outcome.INTERRUPTED
        assert result.facts.detail["may_have_run"] is True
        assert not found.alive
        assert found.fault


def test_a_descriptor_that_is_no_unix_stream_is_refused() -> None:
    def run(*words: str, **passed: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "truepenny.workspace.server", *words],
            capture_output=True, text=True, check=False, **passed,  # type: ignore[call-overload]
        )  # fmt: skip

    for words in ((), ("--fd",), ("--fd", "x"), ("--fd", "-1"), ("--fd", "999"), ("--fd", "0")):
        done = run(*words, stdin=subprocess.DEVNULL)
        assert done.returncode == 2
        assert done.stderr.startswith("tool server: ")
    with socket.socket(socket.AF_INET) as other:
        done = run("--fd", str(other.fileno()), pass_fds=(other.fileno(),))
        assert (done.returncode, "no unix stream socket" in done.stderr) == (2, True)


def test_this_is_version_one() -> None:
    assert PROTOCOL == 1


# A quick stand-in for the server, so that it can be started at each point where a call can stop.
QUICK = """
import json, socket, sys
peer = socket.socket(fileno=int(sys.argv[-1])).makefile("rwb")
def say(message):
    data = json.dumps(message).encode()
    peer.write(len(data).to_bytes(4, "big") + data)
    peer.flush()
while header := peer.read(4):
    message = json.loads(peer.read(int.from_bytes(header, "big")))
    if message["type"] == "hello":
        say({"type": "ready", "protocol": 1, "tools": ["read"]})
    elif message["type"] == "call":
        say({"type": "update", "id": message["id"], "text": "\\x1b[1msoon ghp_" + "a1B2" * 9})
        say({"type": "result", "id": message["id"], "result": RESULT})
    elif message["type"] == "shutdown":
        break
"""


async def test_stopped_at_any_point_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.execute.child.GRACE_SECONDS", 0.05)
    result = encode_result(Result(Outcome.SUCCESS, ends_turn=True))
    monkeypatch.setattr(
        client, "BOOT", QUICK.replace("RESULT", f"json.loads({json.dumps(result)!r})")
    )
    start = Start(hello(tmp_path), {"PATH": PATH}, python=(sys.executable, "-I", "-S"))
    heard: list[str] = []

    async def work() -> None:
        async with open_server(start) as found:
            done = await found.call("read", {}, heard.append)
            assert (done.outcome, done.ends_turn) == (Outcome.SUCCESS, False)

    await work()
    assert heard == ["soon [REDACTED:github-token]"]
    points, number, reached = Points(monkeypatch), 0, True
    with nothing_left():
        while reached:
            number += 1
            assert number < MOST_POINTS
            reached, _ = await points.stops_at(number, work)
    assert number > 10


async def test_out_of_descriptors_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    start = Start(hello(tmp_path), {"PATH": PATH})
    async with open_server(start):
        pass
    with nothing_left():
        for free in range(0, 8, 2):
            with exhausted(free), pytest.raises(CouldNotRun):
                async with open_server(start):
                    raise AssertionError("there are no descriptors for it")
