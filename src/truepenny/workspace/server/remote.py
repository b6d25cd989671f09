"""The six tools of a workspace, run by its tool server: held by the kernel, not by checks alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from truepenny.sandbox.credential.environment import stripped_environment
from truepenny.sandbox.plan import Mode, Mount, Profile
from truepenny.sandbox.roots import FileRoots, file_roots
from truepenny.sandbox.sandbox import Sandbox
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.result import Result
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.file.access import file_access
from truepenny.workspace.file.edit import edit_tool
from truepenny.workspace.file.find import find_tool
from truepenny.workspace.file.grep import grep_tool
from truepenny.workspace.file.read import read_tool
from truepenny.workspace.file.write import write_tool
from truepenny.workspace.workspace import Workspace

from .client import Start, ToolServer, open_server
from .foreground import foreground
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
    env = stripped_environment(workspace.environment())
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


def server_tools(server: ToolServer, workspace: Workspace) -> tuple[Tool, ...]:
    """Return the tools that the server has, each of which runs there."""
    nothing = file_access(workspace.root, FileRoots((), (), (), ()))
    known = (
        read_tool(nothing),
        write_tool(nothing),
        edit_tool(nothing),
        find_tool(nothing),
        grep_tool(nothing),
        foreground(bash_tool(workspace)),
    )
    return tuple(_remote(tool, server) for tool in known if tool.name in server.tools)


def _remote(tool: Tool, server: ToolServer) -> Tool:
    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return await server.call(tool.name, arguments, context.progress)

    return replace(tool, run=run)
