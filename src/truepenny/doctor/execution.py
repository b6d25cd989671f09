"""Checks of what runs commands and files in a workspace: each runs one for real."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from truepenny.config.settings import Settings
from truepenny.errors import TruepennyError
from truepenny.system.scratch import scratch_folder
from truepenny.text.redact import Redactor

from .check import Finding, Surroundings, fail, ok, warn

if TYPE_CHECKING:
    from truepenny.workspace.opening import OpenWorkspace

WORDS = "what the tool server read"


async def shell(around: Surroundings) -> list[Finding]:
    """A pipeline whose first stage fails is told as that, each stage with its status."""
    from truepenny.execute.shell import line_command, run_line

    env = {"PATH": around.env.get("PATH", os.defpath)}
    done = await run_line(line_command("false | true", env=env))
    if done.failure is not None:
        return fail(f"no shell starts: {done.failure.message}", "Install bash.")
    if done.exit.stages is None:
        return warn("the stages of a pipeline are not told", "Install bash.")
    if done.exit.observed != 1 or done.exit.stages != (1, 0):
        return fail(f"`false | true` is told as {done.exit}", "Please report this.")
    return ok("bash tells each stage of a pipeline")


async def ripgrep(around: Surroundings) -> list[Finding]:
    """The search program is there and starts."""
    from truepenny.execute.command import Command
    from truepenny.execute.process import run
    from truepenny.workspace.file.ripgrep import program

    found = program()
    if found is None:
        return fail("there is none: grep does not work", "Install ripgrep.")
    done = await run(Command((found, "--version"), {"PATH": os.defpath}))
    if done.failure is not None or done.exit.observed != 0:
        return fail(f"{found} does not start", "Install ripgrep anew.")
    return ok(f"{done.stdout.text.splitlines()[0]} at {found}")


async def tool_server(around: Surroundings) -> list[Finding]:
    """A server is started in the sandbox and reads a file there."""
    async with open_probe(around) as opened:
        given = {"path": str(opened.workspace.root / "probe")}
        result = await opened.server.call("read", given, lambda line: None)
    if WORDS not in result.text:
        remedy = result.facts.hint or "Please report this."
        return fail(f"{result.outcome}: {result.text.strip() or result.facts.reason}", remedy)
    return ok(f"files are read, written and searched by a server held by {result.facts.sandbox}")


@asynccontextmanager
async def open_probe(around: Surroundings) -> AsyncGenerator[OpenWorkspace]:
    """Open a workspace over a `probe_workspace`, as the settings say but for what is outside."""
    from truepenny.workspace.opening import open_workspace

    loaded = around.loaded
    settings = Settings() if isinstance(loaded, TruepennyError) else loaded.settings
    # What commands may ask of programs outside is looked at by `credentials`.
    settings = settings.model_copy(update={"credentials": {}, "programs": {}})
    with probe_workspace(settings) as (root, state):
        async with open_workspace(root, state, around.env, settings, Redactor()) as opened:
            yield opened


@contextmanager
def probe_workspace(settings: Settings) -> Generator[tuple[Path, Path]]:
    """Make a folder that the account of commands may use, and one of ours beside it."""
    from truepenny.sandbox.account import account_for

    who = account_for(Path("/"), settings.sandbox.account)
    with scratch_folder("doctor") as root, scratch_folder("doctor-state") as state:
        (root / "probe").write_text(WORDS, encoding="utf-8")
        if who.drop:
            for path in (root, root / "probe"):
                os.chown(path, who.uid, who.gid)
        yield root.resolve(), state.resolve()
