"""Opening a workspace for one session: its background runs, its way out, what it may ask of
programs outside, its tool server."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truepenny.config.settings import Settings
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.system.directories import ensure

from .workspace import Workspace

if TYPE_CHECKING:
    from truepenny.text.redact import Redactor
    from truepenny.tool.contract import Tool

    from .credential.host_side import HostSide
    from .server.on_demand import ServerOnDemand


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """An open workspace. `server` runs the file tools. `notices` are sentences about settings that
    a person should hear once."""

    workspace: Workspace
    server: ServerOnDemand
    notices: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool over it, in the order models see them."""
        from . import tools

        return tools(self.workspace, self.server)


def workspace_of(root: Path, state: Path, env: Mapping[str, str], settings: Settings) -> Workspace:
    """Return a workspace that is not open: enough to describe its tools and its sandbox."""
    runs = BackgroundRuns(state / "background", settings.workspace.background)
    return Workspace(root, state, env, settings.sandbox, settings.workspace, runs)


@asynccontextmanager
async def open_workspace(
    root: Path, state: Path, env: Mapping[str, str], settings: Settings, redactor: Redactor
) -> AsyncGenerator[OpenWorkspace]:
    """Open it. Behind the context nothing of it runs any more.

    `root` is absolute and resolved; `state` is a folder of ours for this user and root, made if
    need be. Raises ConfigurationError for a folder, a setting of `sandbox`, a credential or a
    program that cannot be used, CouldNotRun where a proxy cannot be opened. What cannot be held
    for another reason is told by each run.
    """
    from .server.on_demand import server_on_demand

    made = workspace_of(root, state, env, settings)
    notices = _checked(made)
    ensure(state)
    async with AsyncExitStack() as stack:
        if settings.sandbox.network == "proxy":
            from truepenny.sandbox.account import account_for
            from truepenny.sandbox.network.way_out import way_out

            account = account_for(root, settings.sandbox.account)
            made.way = await stack.enter_async_context(
                way_out(settings.sandbox.allow_hosts, account)
            )
        if settings.credentials or settings.programs:
            made.outside = await stack.enter_async_context(_host_side(made, settings, redactor))
        await stack.enter_async_context(made.runs)
        server = await stack.enter_async_context(server_on_demand(made, redactor))
        yield OpenWorkspace(made, server, notices)


def _checked(workspace: Workspace) -> tuple[str, ...]:
    """Make the plan once: a setting that cannot be followed ends everything before it begins."""
    from truepenny.sandbox.plan import Profile
    from truepenny.sandbox.planning import READ_PATHS

    try:
        plan = workspace.plan(Profile.COMMAND)
    except CouldNotRun:
        return ()  # The folder, not a setting: each run says so.
    return tuple(
        f"{READ_PATHS}: {mount.destination} is not there and is left out"
        for mount in plan.mounts
        if mount.reason == READ_PATHS and not os.path.lexists(str(mount.source))
    )


@asynccontextmanager
async def _host_side(
    workspace: Workspace, settings: Settings, redactor: Redactor
) -> AsyncGenerator[HostSide]:
    from truepenny.sandbox.account import account_for
    from truepenny.sandbox.level import Level
    from truepenny.sandbox.plan import Profile

    from .credential.host_side import LANDLOCK, host_side

    root, account = workspace.root, account_for(workspace.root, settings.sandbox.account)
    clean = workspace.clean_environment()
    async with host_side(root, workspace.env, clean, settings, redactor, account) as host:
        with suppress(ConfigurationError, CouldNotRun):  # then each run says so
            if workspace.sandbox(Profile.COMMAND).containment.level is Level.LANDLOCK:
                # Its filter cannot tell one socket file from another: with ours it would open
                # those of the machine, a message bus among them that starts programs outside.
                host.bar(LANDLOCK)
        yield host
