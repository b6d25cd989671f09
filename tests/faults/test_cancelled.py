"""A call of each tool, cancelled at every turn of the event loop that it takes."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import pytest

from tests.workspace.world import LEVELS, World, world
from truepenny.execute.background.record import State
from truepenny.text.redact import Redactor
from truepenny.tool.contract import Tool
from truepenny.tool.outcome import Outcome
from truepenny.workspace import tools
from truepenny.workspace.server.on_demand import server_on_demand

from .remains import nothing_new

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
]

MOST_TURNS = 120
"""Far more than a call takes."""

LEAVES = "(setsid sleep 60 &); echo x | cat"

CALLS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "line": ("bash", {"command": LEAVES}),
    "timeout": ("bash", {"command": "sleep 60", "timeout_ms": 20}),
    "script": ("run_script", {"interpreter": "bash", "script": "s.sh", "inputs": ["s.sh"]}),
    "stop": ("job_stop", {}),
    "look": ("task_output", {"wait_ms": 20}),
}


class Turns:
    """Cancels a scope after so many turns of the loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        self._scope = anyio.CancelScope()
        loop: Any = asyncio.get_running_loop()
        turn = loop._run_once

        def counted() -> None:
            self.left -= 1
            if self.left == 0:
                self._scope.cancel()
            turn()

        monkeypatch.setattr(loop, "_run_once", counted)

    async def cancelled_at(self, number: int, work: Callable[[], Awaitable[object]]) -> bool:
        """Return whether the work was still going on at that turn."""
        with anyio.CancelScope() as self._scope:
            self.left = number
            await work()
            self.left = 0
            return False
        return True


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """End impatiently."""
    monkeypatch.setattr("truepenny.execute.child.GRACE_SECONDS", 0.05)
    monkeypatch.setattr("truepenny.execute.process.DRAIN_SECONDS", 0.05)


async def started(here: World, made: Mapping[str, Tool]) -> str:
    line = {"command": "sleep 0.01; exec sleep 60", "background": True}
    done = await here.call(made["bash"], line)
    return done.facts.detail["background"]["id"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", CALLS)
async def test_a_command_tool_leaves_nothing(
    kind: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, arguments = CALLS[kind]
    async with world(level) as here:
        here.write("s.sh", LEAVES)
        made = {tool.name: tool for tool in tools(here.workspace)}
        runs, owner = here.workspace.runs, "ann/ses_1"
        await here.call(made["bash"], {"command": LEAVES})
        turns, number, going = Turns(monkeypatch), 0, True
        while going:
            number += 1
            assert number < MOST_TURNS
            with nothing_new(here.root, here.context.scratch):
                more = {"id": await started(here, made)} if kind in ("stop", "look") else {}
                going = await turns.cancelled_at(
                    number, lambda more=more: here.call(made[name], {**arguments, **more})
                )
                if more:
                    assert runs.get(owner, more["id"]).state in (State.RUNNING, State.STOPPED)
                    assert (await runs.stop(owner, more["id"])).state is State.STOPPED
        assert number > 4
        assert all(run.state is not State.RUNNING for run in runs.all(owner))


@pytest.mark.parametrize(
    "level", [pytest.param(level, marks=pytest.mark.slow) for level in LEVELS[:-1]] + [*LEVELS[-1:]]
)
async def test_a_file_tool_leaves_nothing_and_the_next_call_works(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(level) as here:
        here.write("a", "needle\n")
        temporary = here.root.parent / "tmp"
        temporary.mkdir(mode=0o755)
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        async with server_on_demand(here.workspace, Redactor()) as server:
            made = {tool.name: tool for tool in tools(here.workspace, server)}
            first = await here.call(made["read"], {"path": "a"})
        if first.outcome is not Outcome.SUCCESS:
            # Our interpreter is closed to the account of commands here; that is said.
            assert (os.geteuid(), first.outcome) == (0, Outcome.CHANNEL_FAILED)
        turns, number, going = Turns(monkeypatch), 0, True
        with nothing_new(temporary, here.root):
            while going:
                number += 1
                assert number < MOST_TURNS
                async with server_on_demand(here.workspace, Redactor()) as server:
                    made = {tool.name: tool for tool in tools(here.workspace, server)}
                    going = await turns.cancelled_at(
                        number, lambda made=made: here.call(made["read"], {"path": "a"})
                    )
                    if going and number % 4 == 0:
                        after = await here.call(made["read"], {"path": "a"})
                        assert after.outcome is first.outcome
        assert number > 4
