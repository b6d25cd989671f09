"""The server held for real, at each level that this machine has."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import pytest

from tests.exhaustion import exhausted
from tests.privilege import NOBODY
from tests.workspace.world import LEVELS, World, world
from truepenny.errors import CouldNotRun
from truepenny.text.redact import Redactor
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import NEVER_RAN
from truepenny.workspace import tools
from truepenny.workspace.server.client import ToolServer
from truepenny.workspace.server.on_demand import server_on_demand
from truepenny.workspace.server.remote import workspace_server

pytestmark = pytest.mark.anyio


def interpreter_is_open() -> bool:
    """Whether the account of commands reaches our interpreter; root's own home may be closed."""
    place = Path(sys.executable).resolve()
    return os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in place.parents)


@asynccontextmanager
async def held(here: World) -> AsyncGenerator[ToolServer | None]:
    """The server, or None where our interpreter is closed to the account and it says so."""
    scratch = here.context.scratch
    if os.geteuid() == 0:
        os.chown(scratch, NOBODY, NOBODY)
    try:
        async with workspace_server(here.workspace, scratch) as server:
            yield server
    except CouldNotRun as error:
        assert not interpreter_is_open()
        assert "did not start" in error.message
        yield None


@pytest.mark.parametrize("level", LEVELS)
async def test_files_are_held_by_the_kernel_and_facts_say_by_what(level: str) -> None:
    async with world(level) as here, held(here) as server:
        if server is None:
            return
        done = await server.call("write", {"path": "a/f", "content": "needle\n"})
        assert (done.outcome, done.facts.sandbox) == (Outcome.SUCCESS, level)
        assert (here.root / "a/f").read_text(encoding="utf-8") == "needle\n"
        assert (here.root / "a/f").stat().st_uid == here.root.stat().st_uid
        done = await server.call("read", {"path": "a/f"})
        assert (done.text, done.facts.sandbox) == ("needle\n", level)
        assert done.facts.containment["limits"] != ""
        done = await server.call("edit", {"path": "a/f", "old_text": "needle", "new_text": "pin"})
        assert done.outcome is Outcome.SUCCESS
        assert (await server.call("find", {"pattern": "f"})).text == "a/f\n"
        done = await server.call("grep", {"pattern": "pin"})
        assert (done.text, done.facts.sandbox) == ("a/f:1: pin\n", level)
        done = await server.call("bash", {"command": "cat a/f"})
        assert (done.text, done.facts.sandbox) == ("pin\n", level)


@pytest.mark.parametrize("level", LEVELS)
async def test_what_the_account_may_not_the_tools_may_not(level: str) -> None:
    async with world(level) as here:
        (here.root / "closed").write_text("secret", encoding="utf-8")
        (here.root / "closed").chmod(0)
        (here.root / "out").symlink_to("/etc/shadow")
        async with held(here) as server:
            if server is None:
                return
            closed = await server.call("read", {"path": "closed"})
            assert (closed.outcome, closed.facts.reason) == (Outcome.TARGET_FAILED, "no_permission")
            for path in ("out", "/etc/shadow", "../state", "/proc/1/environ"):
                refused = await server.call("read", {"path": path})
                assert refused.outcome is Outcome.REFUSED, path
                assert (await server.call("write", {"path": path, "content": ""})).facts.reason in (
                    "outside_roots", "read_only", "denied",
                )  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
async def test_commands_do_not_look_into_the_server(level: str) -> None:
    """Whoever runs as the same account may neither read its memory nor take its socket."""
    look = "for f in environ maps fd; do cat /proc/$PPID/$f || ls /proc/$PPID/$f; done 2>/dev/null"
    async with world(level) as here, held(here) as server:
        if server is None:
            return
        done = await server.call("bash", {"command": look})
        assert "socket" not in done.text
        assert "python" not in done.text


async def test_where_no_descriptor_is_left_nothing_ran_and_no_folder_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world("none") as here:
        temporary = here.root.parent / "tmp"
        temporary.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        for enough in (True, False):  # what is imported late is there the second time
            async with server_on_demand(here.workspace, Redactor()) as server:
                read = {tool.name: tool for tool in tools(here.workspace, server)}["read"]
                with nullcontext() if enough else exhausted():
                    done = await here.call(read, {"path": "a"})
            assert list(temporary.iterdir()) == []
        assert done.outcome is Outcome.CHANNEL_FAILED
        assert done.facts.completeness == NEVER_RAN
        assert "Too many open files" in done.text
