"""The workspace as it is inside: held already, so nothing is held again (assistant spec 2.7)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from truepenny.config.settings import SandboxSettings, WorkspaceSettings
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.level import Containment, Level, LimitLayout
from truepenny.sandbox.plan import Account, Mount, Plan, Profile
from truepenny.sandbox.sandbox import Sandbox
from truepenny.workspace.workspace import Workspace

from .protocol import Hello

PROXY_NAMES = tuple(
    form
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
    for form in (name, name.lower())
)
"""Set by what wraps the server, which alone knows where the way out is."""


class Held(Sandbox):
    """No walls of its own: a command inherits those around the server, and its facts name them."""

    def confine(self, cwd: Path | None = None) -> Confinement:
        """Prepare one start: the program's words as they are."""
        return Confinement(self.containment, lambda argv: argv, str(cwd or self.plan.cwd))


@dataclass(slots=True)
class HeldWorkspace(Workspace):
    """The workspace of a server: commands get what the hello said, and nothing else."""

    child_env: Mapping[str, str] = field(default_factory=dict[str, str])
    held: Held | None = None

    def environment(
        self, sandbox: Sandbox, more: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the environment of commands, as it was prepared for the sandbox around us."""
        return {**self.child_env, **(more or {})}

    def sandbox(self, profile: Profile, mounts: Sequence[Mount] = ()) -> Sandbox:
        """Return what holds the server itself; mounts cannot be added any more."""
        if self.held is None or mounts:
            raise ValueError("a server holds nothing anew")
        return self.held


def held_workspace(hello: Hello, env: Mapping[str, str]) -> HeldWorkspace:
    """Return the workspace. `env` is the server's own environment."""
    cwd = Path(hello.cwd)
    containment = Containment(
        Level(hello.level),
        LimitLayout(hello.limits),
        hello.account,
        hello.network,
        tuple(hello.gaps),
    )
    account = Account(hello.account, os.getuid(), os.getgid(), drop=False)
    state = Path(hello.deferred_dir)
    return HeldWorkspace(
        root=cwd,
        state=state,
        env={},
        sandbox_settings=SandboxSettings(),
        settings=WorkspaceSettings(command_timeout=hello.bash_timeout_seconds),
        runs=BackgroundRuns(state, 0),
        child_env=child_environment(hello.subprocess_env, env),
        held=Held(Plan(Profile.COMMAND, (), cwd, account), containment),
    )


def child_environment(given: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return `given` with the proxy variables of the server's own environment on top.

    What counts is whether one is there: an empty NO_PROXY says that nothing goes around the proxy.
    """
    return {**given, **{name: own[name] for name in PROXY_NAMES if name in own}}
