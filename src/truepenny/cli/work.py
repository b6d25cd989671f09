"""The options of commands that may change something: in which folder, and how much unasked."""

from __future__ import annotations

import shlex
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truepenny.errors import ConfigurationError, UsageError
from truepenny.system.scope import UserScope

from .failure import say
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.tool.admission import Policy
    from truepenny.tool.contract import Tool
    from truepenny.tool.registry import Registry
    from truepenny.workspace.opening import OpenWorkspace

LEVELS = ("read-only", "suggest", "auto-edit", "full-auto")

NAME_DIGITS = 16
"""Of the digest that names a folder's own state: enough that two of one user's never meet."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a person said: the folder and the level of autonomy; None is the settings' own."""

    folder: str | None = None
    autonomy: str | None = None

    def policy(self, bench: Workbench, *, human: bool = False) -> Policy:
        """Return the policy of the session."""
        from truepenny.tool.admission import Policy
        from truepenny.tool.autonomy import Autonomy

        level = self.autonomy or bench.settings.run.autonomy
        return Policy(autonomy=Autonomy(level), human=human)

    def root(self, bench: Workbench) -> Path | None:
        """Return the folder, resolved; None where none is bound.

        Raises UsageError or ConfigurationError for one that is no folder.
        """
        named = self.folder or bench.settings.workspace.path
        if named is None:
            return None
        root = Path(named).expanduser().resolve()
        if not root.is_dir():
            message = f"{root} is no folder"
            remedy = f"Make it (mkdir -p {shlex.quote(str(root))}), or name another folder."
            if root.exists():
                remedy = f"Name a folder, for example {shlex.quote(str(root.parent))}."
            if self.folder:
                raise UsageError(message, where="--workspace", remedy=remedy)
            raise ConfigurationError(message, where="workspace.path", remedy=remedy)
        return root


@asynccontextmanager
async def open_work(
    bench: Workbench, work: Work, *, background: bool = True
) -> AsyncGenerator[OpenWorkspace | None]:
    """Open the folder, if one is bound; behind the context nothing of it runs any more.

    Without `background` no command may be started to run on: it would end with the context.
    """
    root = work.root(bench)
    if root is None:
        yield None
        return
    from truepenny.workspace.opening import open_workspace

    settings = bench.settings
    if not background:
        foreground = settings.workspace.model_copy(update={"background": 0})
        settings = settings.model_copy(update={"workspace": foreground})
    state = state_of(bench, root)
    async with open_workspace(root, state, bench.env, settings, bench.redactor) as opened:
        for notice in opened.notices:
            say(notice)
        yield opened


def every_tool(bench: Workbench) -> Registry:
    """Return all tools there are, to be described and not called: bound to nothing."""
    from truepenny.diagnose.cluster import Clusters
    from truepenny.diagnose.host.host import Hosts

    return bench.registry(Clusters(), _folder_tools(bench), Hosts())


def _folder_tools(bench: Workbench) -> tuple[Tool, ...]:
    from truepenny.workspace import tools
    from truepenny.workspace.opening import workspace_of

    nowhere = Path("/nonexistent")
    return tools(workspace_of(nowhere, nowhere, bench.env, bench.settings))


def in_folder(bench: Workbench, work: Work, name: str) -> bool:
    """Whether a call goes to a tool of the folder that is bound: `bash` is another one without."""
    if work.root(bench) is None:
        return False
    return any(tool.name == name for tool in _folder_tools(bench))


def needs_folder(bench: Workbench, name: str) -> bool:
    """Whether a tool is one of those that only a folder brings."""
    from truepenny.diagnose.cluster import Clusters
    from truepenny.diagnose.host.host import Hosts

    return bench.registry(Clusters(), hosts=Hosts()).get(name) is None


def needs_host(bench: Workbench, name: str) -> bool:
    """Whether a tool is one of those that work on hosts and on no cluster."""
    from truepenny.diagnose.cluster import Clusters

    return bench.registry(Clusters()).get(name) is None and not needs_folder(bench, name)


def state_of(bench: Workbench, root: Path) -> Path:
    """Return the folder of ours for what this user's runs in `root` leave."""
    name = sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:NAME_DIGITS]
    return UserScope(bench.directories.state / "workspaces").path(bench.user, name)


def work_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --workspace, --autonomy and --read-only to a command."""
    for option in (
        click.option(
            "--read-only",
            "autonomy",
            flag_value="read-only",
            help="Refuse every tool that changes anything: --autonomy read-only.",
        ),
        click.option(
            "--autonomy",
            type=click.Choice(LEVELS),
            help="How much is done without asking a person.",
        ),
        click.option(
            "--workspace",
            metavar="FOLDER",
            type=click.Path(),
            help="Work in this folder: adds the tools that read, change and run things there.",
        ),
    ):
        command = option(command)
    return command
