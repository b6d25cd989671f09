"""The server's end alone: in this process, on the other side of a socket."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from truepenny.tool.codec import decode_result
from truepenny.workspace.server import protocol
from truepenny.workspace.server.channel import Channel
from truepenny.workspace.server.frame import MAX_FRAME, FrameFault
from truepenny.workspace.server.held import child_environment
from truepenny.workspace.server.protocol import Abort, Call, Fatal, Ready, Shutdown, client_codec
from truepenny.workspace.server.serve import FAULT, OK, serve

from .world import hello

pytestmark = pytest.mark.anyio
CODEC = client_codec()


class Peer:
    """The client's side by hand. `code` is set when the server has ended."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.channel = Channel(connection)
        self.code: int | None = None
        self.ended = anyio.Event()

    async def send(self, message: Any) -> None:
        await self.channel.send(CODEC.encode(message))

    async def raw(self, data: bytes) -> None:
        while data:
            await anyio.wait_writable(self.socket)
            data = data[self.socket.send(data) :]

    async def receive(self) -> Any:
        with anyio.fail_after(20):
            payload = await self.channel.receive()
        return None if payload is None else CODEC.decode(payload)

    async def fate(self) -> int | None:
        with anyio.fail_after(20):
            await self.ended.wait()
        return self.code


@asynccontextmanager
async def peer(env: dict[str, str] | None = None) -> AsyncGenerator[Peer]:
    ours, theirs = socket.socketpair()
    found = Peer(ours)

    async def run() -> None:
        found.code = await serve(theirs, env or {})
        found.ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            yield found
        finally:
            found.channel.close()
            with anyio.fail_after(20, shield=True):
                await found.ended.wait()


@asynccontextmanager
async def ready(
    tmp_path: Path, env: dict[str, str] | None = None, **changes: Any
) -> AsyncGenerator[Peer]:
    async with peer(env) as found:
        await found.send(hello(tmp_path, **changes))
        assert await found.receive() == Ready(1, ["read", "write", "edit", "find", "grep", "bash"])
        yield found


async def test_calls_are_answered_by_their_ids(tmp_path: Path) -> None:
    async with ready(tmp_path) as found:
        await found.send(Call("w", "write", {"path": "a", "content": "x\n"}))
        assert decode_result((await found.receive()).result).outcome == "success"
        await found.send(Call("r", "read", {"path": "a"}))
        answer = await found.receive()
        assert (answer.id, decode_result(answer.result).text) == ("r", "x\n")
        await found.send(Call("n", "none", {}))
        assert decode_result((await found.receive()).result).facts.reason == "unknown_tool"
        await found.send(Shutdown())
        assert await found.receive() is None
        assert await found.fate() == OK


async def test_a_broken_argument_is_our_fault_and_not_the_end(tmp_path: Path) -> None:
    async with ready(tmp_path) as found:
        await found.send(Call("a", "read", {"path": 7}))
        assert decode_result((await found.receive()).result).outcome == "internal_error"
        await found.send(Call("b", "read", {"path": "/etc/passwd"}))
        assert decode_result((await found.receive()).result).outcome == "refused"


async def test_calls_run_side_by_side_and_an_abort_stops_one(tmp_path: Path) -> None:
    async with ready(tmp_path) as found:
        await found.send(Call("long", "bash", {"command": "echo begun > begun; exec sleep 60"}))
        await found.send(Call("quick", "find", {"pattern": "*"}))
        assert (await found.receive()).id == "quick"
        await found.send(Abort("unknown"))
        await found.send(Abort("long"))
        answer = await found.receive()
        result = decode_result(answer.result)
        assert (answer.id, result.outcome, result.facts.cause) == ("long", "interrupted", "abort")
        await found.send(Abort("long"))  # it has ended: no fault
        await found.send(Call("again", "find", {"pattern": "*"}))
        assert (await found.receive()).id == "again"


async def test_the_end_of_the_socket_ends_calls_and_server(tmp_path: Path) -> None:
    async with ready(tmp_path) as found:
        await found.send(Call("long", "bash", {"command": "exec sleep 60"}))
    assert found.code == OK


@pytest.mark.parametrize(
    "data",
    [
        b"\0\0\0\0",
        (MAX_FRAME + 1).to_bytes(4, "big"),
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\x04null",
        b"\0\0\0\x02\xff\xff",
        b'\0\0\0\x0f{"type":"hello"}',
        b"\0\0\0\x13" + b'{"type":"shutdown"}',
    ],
)
async def test_what_is_no_hello_ends_it_with_a_reason(data: bytes) -> None:
    async with peer() as found:
        await found.raw(data)
        message = await found.receive()
        assert isinstance(message, Fatal)
        assert await found.fate() == FAULT


async def test_another_version_and_words_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    for changes in ({"protocol": 2}, {"level": "castle"}, {"cwd": str(tmp_path / "none")}):
        async with peer() as found:
            await found.send(hello(tmp_path, **changes))
            assert isinstance(await found.receive(), Fatal)


async def test_garbage_after_the_hello_ends_the_calls_too(tmp_path: Path) -> None:
    for wrong in (hello(tmp_path), Call("long", "find", {"pattern": "*"})):
        async with ready(tmp_path) as found:
            await found.send(Call("long", "bash", {"command": "exec sleep 60"}))
            await found.send(wrong)
            assert isinstance(await found.receive(), Fatal)
            assert await found.fate() == FAULT


async def test_half_a_frame_at_the_end_is_a_fault(tmp_path: Path) -> None:
    async with ready(tmp_path) as found:
        await found.raw(b"\0\0\0\x10half")
        found.socket.shutdown(socket.SHUT_WR)
        assert isinstance(await found.receive(), Fatal)
        assert await found.fate() == FAULT


async def test_a_picture_crosses_whole_and_what_does_not_fit_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4000
    async with ready(tmp_path) as found:
        (tmp_path / "work" / "a.png").write_bytes(data)
        await found.send(Call("a", "read", {"path": "a.png"}))
        result = decode_result((await found.receive()).result)
        assert result.content[1].data == data  # type: ignore[union-attr]
        monkeypatch.setattr("truepenny.workspace.server.serve.MAX_FRAME", 1000)
        await found.send(Call("b", "read", {"path": "a.png"}))
        result = decode_result((await found.receive()).result)
        assert (result.outcome, result.facts.reason) == ("internal_error", "not_carried")
        assert result.facts.completeness.state == "unknown"


async def test_commands_get_the_environment_of_the_hello_and_the_wrappers_proxy(
    tmp_path: Path,
) -> None:
    env = {"HTTPS_PROXY": "wrapper", "NO_PROXY": "", "SECRET": "x"}
    given = {"PATH": "/usr/bin:/bin", "HTTPS_PROXY": "told", "NO_PROXY": "told", "MINE": "1"}
    async with ready(tmp_path, env, subprocess_env=given) as found:
        await found.send(Call("a", "bash", {"command": "/usr/bin/env"}))
        lines = decode_result((await found.receive()).result).text.splitlines()
    assert {"HTTPS_PROXY=wrapper", "NO_PROXY=", "MINE=1"} <= set(lines)
    assert not any(line.startswith("SECRET") for line in lines)


def test_proxy_variables_are_merged_by_presence() -> None:
    assert child_environment({}, {}) == {}
    assert child_environment({}, {"PATH": "x", "HOME": "y"}) == {}
    assert child_environment({"no_proxy": "a"}, {"no_proxy": ""}) == {"no_proxy": ""}


async def test_background_commands_are_refused(tmp_path: Path) -> None:
    async with ready(tmp_path) as found:
        await found.send(Call("a", "bash", {"command": "true", "background": True}))
        assert decode_result((await found.receive()).result).facts.reason == "no_background"


async def test_facts_name_the_level_that_the_hello_named(tmp_path: Path) -> None:
    async with ready(tmp_path, level="landlock", limits="rlimits", gaps=["scheduling"]) as found:
        await found.send(Call("a", "bash", {"command": "true"}))
        facts = decode_result((await found.receive()).result).facts
        assert (facts.sandbox, facts.containment["limits"]) == ("landlock", "rlimits")


async def test_a_send_that_was_cut_short_leaves_a_broken_channel() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    try:
        with anyio.move_on_after(0.05):
            await channel.send(b"x" * 10_000_000)
        with pytest.raises(BrokenPipeError):
            await channel.send(b"y")
    finally:
        channel.close()
        theirs.close()
    assert issubclass(FrameFault, Exception)
    assert json.loads(CODEC.encode(protocol.Abort("a"))) == {"type": "abort", "id": "a"}
