"""A probe says yes only to a host that did what it was asked."""

from __future__ import annotations

import pytest

from truepenny.diagnose.host.failure import Stage
from truepenny.diagnose.host.probe import probe

from .conftest import World
from .ssh_server import Process, Server, serve

pytestmark = pytest.mark.anyio


async def test_a_host_that_answers_something_else_is_no_yes(world: World) -> None:
    async def menu(process: Process, server: Server) -> None:
        process.stdout.write(b"Welcome! 1) reboot 2) quit\n")
        process.exit(0)

    async def silent(process: Process, server: Server) -> None:
        process.stdout.write(b"ok\n")
        process.close()

    for handler in (menu, silent):
        async with serve(handler) as server:
            world.entries["web"] = server.entry()
            found = await probe(world.hosts, world.host("web"), "user")
        assert found.failure is not None
        assert found.failure.stage is Stage.UNKNOWN
        assert found.to_json()["ok"] is False


async def test_a_host_that_never_ends_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.diagnose.host.probe.PROBE_SECONDS", 0.5)

    async def hang(process: Process, server: Server) -> None:
        process.stdout.write(b"ok\n")

    async with serve(hang) as server:
        world.entries["web"] = server.entry()
        found = await probe(world.hosts, world.host("web"), "user")
    assert found.failure is not None
    assert found.failure.stage is Stage.NETWORK
