"""A sandbox with the way out: what is reached through it, and that nothing is past it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.sandbox.inside import Ended, bwrap, plan_of, run
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.confinement import Refused
from truepenny.sandbox.network import python
from truepenny.sandbox.network.address import Verdict
from truepenny.sandbox.network.decision import Answer
from truepenny.sandbox.network.way_out import WayOut, way_out
from truepenny.sandbox.sandbox import Sandbox

from .wire import ME, Names, echo

pytestmark = pytest.mark.anyio

PYTHON = "/usr/bin/python3"

CLIENT = """
import os, socket, sys
host, port = os.environ["https_proxy"][len("http://"):].split(":")
for target in sys.argv[1:]:
    connection = socket.create_connection((host, int(port)), 10)
    connection.sendall(("CONNECT %s HTTP/1.1\\r\\n\\r\\nping" % target).encode())
    connection.shutdown(socket.SHUT_WR)
    data = b""
    while piece := connection.recv(65536):
        data += piece
    print(data.split()[1].decode(), data.endswith(b"ping"))
"""

DIRECT = """
import socket, sys
for target in sys.argv[1:]:
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 5)
        print("reached")
    except OSError as error:
        print("refused")
"""


@asynccontextmanager
async def inside(
    folder: Path, *entries: str, names: Names | None = None
) -> AsyncIterator[tuple[WayOut, Sandbox | None]]:
    plan = plan_of(folder)
    with anyio.fail_after(60):
        async with way_out(entries, plan.account, resolver=names or Names()) as way:
            sandbox = bwrap(way.into(plan))
            yield way, None if sandbox is None else way.through(sandbox)


async def started(sandbox: Sandbox, *argv: str) -> Ended:
    return await anyio.to_thread.run_sync(lambda: run(sandbox, *argv))


async def test_an_allowed_host_is_reached_and_others_are_not(folder: Path) -> None:
    names = Names(good="127.0.0.1", meta="169.254.169.254")
    async with echo() as port:
        entries = (f"good.example:{port} private", "meta.example:80", f"127.0.0.1:{port}")
        async with inside(folder, *entries, names=names) as (way, sandbox):
            if sandbox is None:
                return
            targets = (f"good.example:{port}", "meta.example:80", f"127.1:{port}", "evil.example:1")
            ended = await started(sandbox, PYTHON, "-I", "-c", CLIENT, *targets)
            assert ended.out.splitlines() == ["200 True", "403 False", "403 False", "403 False"]
            assert (ended.code, ended.verdict) == (0, None)
            assert sandbox.containment.network == "proxy"
    assert [decision.verdict for decision in way.proxy.decisions.since()] == [
        Verdict.ALLOWED,
        Verdict.METADATA,
        Verdict.INNER,
        Answer.NOT_ALLOWED,
    ]


async def test_nothing_is_reached_past_it(folder: Path) -> None:
    async with echo() as port, inside(folder, f"127.0.0.1:{port} private") as (_, sandbox):
        if sandbox is None:
            return
        targets = (f"127.0.0.1:{port}", "1.1.1.1:53", "169.254.169.254:80", "localhost:22")
        ended = await started(sandbox, PYTHON, "-I", "-c", DIRECT, *targets)
        assert ended.out.splitlines() == ["refused"] * 4


@pytest.mark.parametrize("code", [0, 3, 127])
async def test_the_exit_code_passes(folder: Path, code: int) -> None:
    async with inside(folder) as (_, sandbox):
        if sandbox is not None:
            ended = await started(sandbox, "sh", "-c", f"exit {code}")
            assert (ended.code, ended.verdict) == (code, None)


async def test_a_program_that_is_missing_never_started(folder: Path) -> None:
    async with inside(folder) as (_, sandbox):
        if sandbox is not None:
            verdict = (await started(sandbox, "no-such-program")).verdict
            assert verdict is not None
            assert verdict.why is Refused.MISSING
            assert verdict.message == "no-such-program: No such file or directory"


async def test_a_program_cannot_claim_that_it_never_started(folder: Path) -> None:
    async with inside(folder) as (_, sandbox):
        if sandbox is not None:
            # It tries every descriptor that it could have been left.
            line = "for n in $(seq 3 99); do echo 'missing: x' >&$n; done 2>/dev/null; exit 127"
            ended = await started(sandbox, "bash", "-c", line)
            assert (ended.code, ended.verdict) == (127, None)


async def test_starts_at_the_same_time_do_not_meet(folder: Path) -> None:
    async with echo() as port, inside(folder, f"127.0.0.1:{port} private") as (way, sandbox):
        if sandbox is None:
            return
        ended: list[Ended] = []

        async def one() -> None:
            target = f"127.0.0.1:{port}"
            ended.append(await started(sandbox, PYTHON, "-I", "-c", CLIENT, target))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)
        assert [each.out for each in ended] == ["200 True\n"] * 3
        assert len(way.proxy.decisions.since()) == 3


async def test_nothing_is_left(folder: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    async with inside(folder) as (way, sandbox):
        place = Path(way.words(0)[4]).parent
        assert place.is_dir()
        if sandbox is not None:
            await started(sandbox, "true")
    assert not place.exists()
    assert set(os.listdir("/proc/self/fd")) == before


async def test_levels_without_a_network_of_their_own_are_refused(folder: Path) -> None:
    plan = plan_of(folder)
    async with way_out([], plan.account) as way:
        with pytest.raises(CouldNotRun, match="namespaces"):
            way.through(open_sandbox(way.into(plan), "none"))


async def test_a_bad_entry_and_a_machine_without_python_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigurationError):
        async with way_out(["*.example:443"], ME):
            pass
    monkeypatch.setattr(python, "PYTHONS", (Path(sys.prefix, "none"),))
    with pytest.raises(CouldNotRun, match="Python"):
        async with way_out([], ME):
            pass
