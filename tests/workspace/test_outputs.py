"""Whatever a result leaves out can be read by the step that the result names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.workspace import tools
from truepenny.workspace.server.on_demand import server_on_demand

from .world import World, world

pytestmark = pytest.mark.anyio


async def following(here: World, next_step: str) -> str:
    """Do what `next` says, and return what comes."""
    named = re.fullmatch(r"read path=(\S+)", next_step)
    assert named
    return (await call(here, "read", {"path": named[1], "tail": 3})).text


async def call(here: World, name: str, arguments: dict[str, object]):
    async with server_on_demand(here.workspace, Redactor()) as server:
        (tool,) = (tool for tool in tools(here.workspace, server) if tool.name == name)
        return await here.call(tool, arguments)


async def test_the_rest_of_a_command_and_of_a_script_can_be_read() -> None:
    async with world() as here:
        here.write("count.sh", "seq 30000")
        done = await call(here, "bash", {"command": "seq 30000"})
        assert "30000" in await following(here, done.facts.completeness.next)
        done = await call(here, "run_script", {"interpreter": "sh", "script": "count.sh"})
        assert "30000" in await following(here, done.facts.completeness.next)
        log = done.facts.detail["logs"]["stdout"]
        done = await call(here, "grep", {"path": log, "pattern": "^777$"})
        assert "777" in done.text


async def test_no_way_leads_out_of_the_folders_of_outputs() -> None:
    async with world() as here:
        secret = here.workspace.state / "secret"
        secret.write_text("hidden words", encoding="utf-8")
        (here.context.scratch / "link").symlink_to(secret)
        for path in (
            here.context.scratch / "link",
            here.context.scratch / ".." / "state" / "secret",
            here.workspace.script_runs / ".." / "secret",
        ):
            done = await call(here, "read", {"path": str(path)})
            assert done.outcome in (Outcome.REFUSED, Outcome.CHANNEL_FAILED, Outcome.TARGET_FAILED)
            assert "hidden words" not in done.text
        assert Path(secret).read_text(encoding="utf-8") == "hidden words"
