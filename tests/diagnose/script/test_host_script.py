"""host_script: the script reaches the host whole, its words are words, its last line is a fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.diagnose.host.conftest import World
from tests.diagnose.host.ssh_server import serve
from tests.diagnose.script.shelf import Shelf
from truepenny.diagnose.script.host_script import host_script_tool
from truepenny.execute.ending import Cause, Leg, Outcome
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio


async def call(world: World, script: str, shelf: Shelf | None = None, **more: Any) -> Result:
    tool = host_script_tool(world.hosts, shelf or Shelf())
    return await tool.run({"host": "web", "skill": "try", "script": script, **more}, world.context)


async def test_a_script_runs_with_its_words_and_without_input(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with serve() as server:
        world.entries["web"] = server.entry()
        bash = await call(world, "probe.sh", args=["a b", "$HOME;'"])
        python = await call(world, "probe.py", args=["-x", "y z"])
        silent = await call(world, "silent.sh")
    assert bash.outcome is Outcome.SUCCESS
    assert bash.text.startswith("got a b\ngot $HOME;'\nstatus: ok\n")
    assert "hunter2" not in bash.text
    assert bash.facts.detail["status"] == "ok"
    assert bash.facts.source["host"] == "web"
    assert (python.text, python.facts.detail["status"]) == (
        "['-x', 'y z']\nstatus: no_match\n",
        "no_match",
    )
    # A status that is not the last line is data.
    assert (silent.outcome, silent.facts.detail["status"]) == (Outcome.TARGET_FAILED, None)
    assert any("did not say" in note for note in silent.facts.notes)


async def test_a_script_that_was_ended_has_no_status(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await call(world, "slow.sh", timeout_seconds=1)
    assert (result.outcome, result.facts.cause) == (Outcome.INTERRUPTED, Cause.TIMEOUT)
    assert result.text.startswith("status: ok\n")
    assert result.facts.detail["status"] is None
    assert result.facts.detail["remote_end"]["state"] == "gone"


async def test_what_cannot_be_run_says_what_can(tmp_path: Path) -> None:
    world = World(tmp_path)
    unknown = await call(world, "other.sh")
    assert (unknown.outcome, unknown.facts.reason) == (Outcome.INVALID_ARGUMENTS, "unknown_script")
    assert "try/probe.sh" in unknown.text
    assert "How to try." in unknown.text
    elsewhere = await call(world, "probe.sh", Shelf("pod", "node"))
    assert elsewhere.facts.reason == "script_context"
    assert elsewhere.facts.hint == "use pod_script, node_script"
    world.entries["web"] = {
        "address": "127.0.0.1",
        "port": 1,
        "user": "ops",
        "auth": "password",
        "password": "x",
    }
    unreached = await call(world, "probe.sh")
    assert (unreached.outcome, unreached.facts.leg) == (Outcome.CHANNEL_FAILED, Leg.TRANSPORT)
