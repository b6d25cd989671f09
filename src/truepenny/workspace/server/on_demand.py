"""The tool server of a workspace, started by the first call that needs it and ended at the close.

A server that ended is replaced by the next call; the call it ended in is reported and never sent
again.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.sandbox.account import account_for
from truepenny.sandbox.roots import FileRoots
from truepenny.system.atomic import storage_failed
from truepenny.system.scratch import scratch_folder
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.process_facts import not_contained
from truepenny.tool.result import Result
from truepenny.workspace.file.access import FileAccess, file_access

if TYPE_CHECKING:
    from truepenny.workspace.workspace import Workspace

    from .client import ToolServer


MakeTool = Callable[[FileAccess], Tool]


class ServerOnDemand:
    """At most one server at a time. Made by `server_on_demand`."""

    def __init__(self, workspace: Workspace, redactor: Redactor, tasks: TaskGroup) -> None:
        self._workspace = workspace
        self._redactor = redactor
        self._tasks = tasks
        self._starting = anyio.Lock()
        self._server: ToolServer | None = None
        self._closing = anyio.Event()

    async def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Callable[[str], None]
    ) -> Result:
        """Call a tool in the server, which is started if there is none.

        A server that cannot be held or started is a result, like that of any other tool.
        """
        try:
            server = await self._alive()
        except (ConfigurationError, CouldNotRun) as error:
            return not_contained(error)
        except OSError as error:
            # Its folder could not be made: a full disk, or no descriptor left.
            failed = storage_failed(error, error.filename or "", "Starting the tool server")
            return not_contained(failed)
        return await server.call(tool, arguments, progress)

    @property
    def script_runs(self) -> Path:
        """Where the logs of its workspace's scripts are."""
        return self._workspace.script_runs

    async def _alive(self) -> ToolServer:
        async with self._starting:
            if self._server is None or not self._server.alive:
                self._server = started = await self._tasks.start(self._keep)
                return started
            return self._server

    def close(self) -> None:
        """Ask the server to end; leaving the context waits for it."""
        self._closing.set()

    async def _keep(self, *, task_status: TaskStatus[ToolServer]) -> None:
        from .remote import workspace_server

        with scratch_folder("server") as name:
            scratch = name.resolve()
            account = account_for(self._workspace.root, self._workspace.sandbox_settings.account)
            outputs = scratch / "outputs"
            outputs.mkdir(mode=0o700)
            if account.drop:
                # Through the folder it may go, and see nothing; what it writes is its own.
                os.chmod(scratch, 0o711)
                os.chown(outputs, account.uid, account.gid)
            async with workspace_server(self._workspace, outputs, self._redactor) as server:
                task_status.started(server)
                async with anyio.create_task_group() as waiting:
                    waiting.start_soon(_first, self._closing, waiting.cancel_scope)
                    waiting.start_soon(_first, server.over, waiting.cancel_scope)


async def _first(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


@asynccontextmanager
async def server_on_demand(
    workspace: Workspace, redactor: Redactor
) -> AsyncGenerator[ServerOnDemand]:
    """Offer a server for the time of the context; it has ended behind it."""
    async with anyio.create_task_group() as tasks:
        made = ServerOnDemand(workspace, redactor, tasks)
        try:
            yield made
        finally:
            made.close()


def served(tool: Tool, server: ServerOnDemand, outputs: MakeTool | None = None) -> Tool:
    """Return the tool as it is run by the server.

    Whole outputs of earlier calls and logs of scripts lie outside of what the server sees,
    redacted, in folders of ours: with `outputs` the tool made by it reads them here.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        path = Path(arguments.get("path", ""))
        ours = (context.scratch, server.script_runs)
        if outputs is not None and any(path.is_relative_to(folder) for folder in ours):
            roots = FileRoots(ours, (), (), ())
            return await outputs(file_access(context.scratch, roots)).run(arguments, context)
        return await server.call(tool.name, arguments, context.progress)

    return replace(tool, run=run)
