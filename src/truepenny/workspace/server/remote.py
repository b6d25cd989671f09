"""The tool server of a workspace: what holds it, and what it is told of the roots and limits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from truepenny.sandbox.credential.environment import stripped_environment
from truepenny.sandbox.plan import Mode, Mount, Profile
from truepenny.sandbox.roots import file_roots
from truepenny.sandbox.sandbox import Sandbox
from truepenny.text.redact import Redactor
from truepenny.workspace.workspace import Workspace

from .client import Start, ToolServer, open_server
from .interpreter import interpreter
from .protocol import PROTOCOL, Hello


@asynccontextmanager
async def workspace_server(
    workspace: Workspace, scratch: Path, redactor: Redactor | None = None
) -> AsyncGenerator[ToolServer]:
    """Start the tool server of a workspace for one task attempt.

    `scratch` is a folder of this attempt outside the workspace, absolute and resolved, that the
    account of commands may write; it is seen inside. Raises what `Workspace.sandbox` raises, and
    CouldNotRun where the server does not start.
    """
    outputs = Mount(Mode.WRITE, scratch, "whole outputs of commands", scratch, required=True)
    sandbox = workspace.sandbox(Profile.TOOL_SERVER, (outputs,))
    env = stripped_environment(workspace.clean_environment())
    found = interpreter(sandbox.plan)
    start = Start(
        hello_for(workspace, sandbox, scratch, env),
        {**env, **found.env},
        sandbox,
        redactor or Redactor(),
        found.words,
    )
    async with open_server(start) as server:
        yield server


def hello_for(
    workspace: Workspace, sandbox: Sandbox, scratch: Path, env: Mapping[str, str]
) -> Hello:
    """Return what the server is told: the roots of its sandbox's plan and the words for facts."""
    roots, found = file_roots(sandbox.plan), sandbox.containment
    return Hello(
        protocol=PROTOCOL,
        cwd=str(workspace.root),
        subprocess_env=dict(env),
        read_roots=list(map(str, roots.read)),
        write_roots=list(map(str, roots.write)),
        denied_roots=list(map(str, roots.deny)),
        hidden_roots=list(map(str, roots.hidden)),
        deferred_dir=str(scratch),
        level=str(found.level),
        limits=str(found.limits),
        account=found.account,
        network=found.network,
        gaps=list(found.gaps),
        bash_timeout_seconds=workspace.settings.command_timeout,
    )
