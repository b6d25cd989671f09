"""The folder that tools work in, with everything that a tool needs to run something there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from truepenny.config.settings import SandboxSettings, WorkspaceSettings
from truepenny.sandbox.plan import Mount, Plan, Profile
from truepenny.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from truepenny.execute.background.runs import BackgroundRuns
    from truepenny.sandbox.network.way_out import WayOut

    from .credential.host_side import HostSide


@dataclass(slots=True)
class Workspace:
    """One folder of one user.

    `root` is absolute and resolved. `state` is a private folder of ours, outside `root`, for
    whatever runs leave (outputs, script runs). `env` is our own environment, from which the clean
    one of commands is made. `runs` is the registry of background commands of this session. `way`
    is the open way out where the network is `proxy`; without one such a run cannot be held.
    `outside` is what commands may ask of programs outside, if the settings name any. `found` is
    the level that held the last run, None before one. `barred` is the account that may not write
    `root`, empty for none, None while that was not tried (`truepenny.workspace.rights`). `nudged`
    has the sessions that were told of the file tools.
    """

    root: Path
    state: Path
    env: Mapping[str, str]
    sandbox_settings: SandboxSettings
    settings: WorkspaceSettings
    runs: BackgroundRuns
    way: WayOut | None = None
    outside: HostSide | None = None
    found: str | None = None
    barred: str | None = None
    nudged: set[str] = field(default_factory=set[str])

    @property
    def level(self) -> str | None:
        """What holds a run, as far as it is known without a trial: `auto` is, after the first."""
        named = self.sandbox_settings.level
        return self.found if named == "auto" else named

    @property
    def script_runs(self) -> Path:
        """The folders of script runs: their logs are redacted, and `read` and `grep` see them."""
        return self.state / "runs"

    def environment(
        self, sandbox: Sandbox, more: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the whole environment of a command in `sandbox`: clean, its PATH without the
        folders that are hidden there, with `more` on top."""
        from truepenny.sandbox.level import Level
        from truepenny.sandbox.search_path import search_path

        clean = self.clean_environment() if self.outside is None else self.outside.environment
        if sandbox.containment.level is not Level.NONE:
            clean = {**clean, "PATH": search_path(clean["PATH"], sandbox.plan)}
        return {**clean, **(more or {})}

    def clean_environment(self) -> dict[str, str]:
        """Return that of what cannot ask for anything outside, such as our own server."""
        from truepenny.sandbox.account import account_for
        from truepenny.sandbox.credential.environment import clean_environment

        account = account_for(self.root, self.sandbox_settings.account)
        return clean_environment(self.env, self.root, account=account)

    def plan(self, profile: Profile, mounts: Sequence[Mount] = ()) -> Plan:
        """Return what one run may reach by folder and settings, without what was opened for it.

        Raises ConfigurationError for a setting that cannot be followed, CouldNotRun where the
        folder is not there.
        """
        from truepenny.sandbox.account import account_for
        from truepenny.sandbox.planning import plan_for

        settings = self.sandbox_settings
        account = account_for(self.root, settings.account)
        return plan_for(profile, self.root, account, settings, mounts=mounts)

    def sandbox(self, profile: Profile, mounts: Sequence[Mount] = ()) -> Sandbox:
        """Return the sandbox for one run, with further mounts after the plan's own.

        Raises ConfigurationError for a setting that cannot be followed, CouldNotRun where nothing
        on this machine can hold a process and the settings do not say `none`.
        """
        from truepenny.errors import CouldNotRun
        from truepenny.sandbox.choice import open_sandbox

        settings = self.sandbox_settings
        plan = self.plan(profile, mounts)
        if self.outside is not None and profile is Profile.COMMAND:
            plan = self.outside.into(plan)
        if settings.network == "proxy":
            if self.way is None:
                message = "the way out through the proxy is not open"
                raise CouldNotRun(message, where="sandbox.network")
            plan = self.way.into(plan)
        opened = open_sandbox(plan, settings.level)
        self.found = str(opened.containment.level)
        return opened if self.way is None else self.way.through(opened)
