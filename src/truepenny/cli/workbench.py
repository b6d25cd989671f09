"""What every command stands on: directories, settings, redactor, clusters, tools, sessions.

The one place where the parts are put together. Each is made when it is first asked for, so that a
command pays only for what it uses.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from truepenny.config.load import Loaded, load
from truepenny.system.clock import Clock, SystemClock
from truepenny.system.directories import Directories
from truepenny.system.ids import Ids, RandomIds
from truepenny.system.user import current_user

from .failure import DEBUG, say

if TYPE_CHECKING:
    from truepenny.agent.sessions import SessionStore
    from truepenny.config.settings import Settings
    from truepenny.diagnose.cluster import Clusters
    from truepenny.diagnose.host.host import Hosts
    from truepenny.model.request import Model
    from truepenny.skill import Skills
    from truepenny.text.redact import Redactor
    from truepenny.tool.contract import Tool
    from truepenny.tool.registry import Registry


class Workbench:
    """Everything a command may need, from the environment it was started in."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self.env: Mapping[str, str] = os.environ if env is None else env
        self.directories = Directories.from_environment(self.env)
        self.clock: Clock = SystemClock()
        self.ids: Ids = RandomIds()
        # What failed is in results and events; the log has only the traceback, for debugging.
        handler = logging.StreamHandler() if self.env.get(DEBUG) else logging.NullHandler()
        logging.getLogger("truepenny").handlers = [handler]

    @cached_property
    def loaded(self) -> Loaded:
        """The settings with their sources; warnings are said once, on stderr."""
        loaded = load(self.directories, self.env)
        for warning in loaded.warnings:
            say(f"warning: {warning.where}: {warning.message}\n  {warning.remedy}")
        return loaded

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        return self.loaded.settings

    @cached_property
    def user(self) -> str:
        """Who we are: the account this process runs as, which no setting can change."""
        return current_user()

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor that the settings ask for."""
        from truepenny.config.redaction import redactor

        return redactor(self.settings, self.env)

    def clusters(self) -> Clusters:
        """The clusters that the settings or the kubeconfig bind."""
        from truepenny.diagnose.cluster import Clusters

        return Clusters.from_settings(self.settings, self.env, self.directories)

    def hosts(self) -> Hosts:
        """The hosts that the settings bind."""
        from truepenny.diagnose.host.host import Hosts

        return Hosts.from_settings(self.settings, self.env, self.directories)

    @cached_property
    def skills(self) -> Skills:
        """The skills that can be used; what is odd or refused is said once, on stderr."""
        from truepenny.skill import Skills, shipped

        skills = Skills.load([shipped()])
        for said in (*skills.warnings, *(f"not used: {error}" for error in skills.refused)):
            say(said)
        return skills

    def registry(
        self, clusters: Clusters, more: Iterable[Tool] = (), hosts: Hosts | None = None
    ) -> Registry:
        """The tools over the given clusters and hosts (None: no tool for hosts), and `more`, which
        keep limits of their own: a script in a workspace may take hours. The `bash` of a workspace
        stands in the place of the one for diagnosis."""
        from truepenny.diagnose import host_tools, line_tools, script_tools, tools
        from truepenny.diagnose.host.host import Hosts
        from truepenny.skill.tool import skill_tool
        from truepenny.tool.registry import Registry

        longest, shown = self.settings.run.tool_timeout, self.settings.output.max_bytes
        more = tuple(more)
        lines = line_tools(clusters, self.settings.sandbox, self.env, max_bytes=shown)
        scripts = script_tools(
            clusters,
            Hosts() if hosts is None else hosts,
            self.skills,
            self.settings.sandbox,
            self.env,
            max_bytes=shown,
        )
        taken = {tool.name for tool in more}
        readers = [
            replace(tool, timeout=min(tool.timeout, longest))
            for tool in (
                *tools(clusters, max_bytes=shown),
                *lines,
                skill_tool(self.skills),
                *scripts,
            )
            if tool.name not in taken
        ]
        if hosts is not None:
            readers += host_tools(hosts, max_bytes=shown, max_seconds=longest)
        return Registry([*readers, *more])

    def model(self, name: str | None) -> Model:
        """The model of a name; see `truepenny.model.catalog.resolve`."""
        from truepenny.model.catalog import resolve as resolve_model

        return resolve_model(name, self.settings, self.directories, self.env, self.redactor)

    @cached_property
    def sessions(self) -> SessionStore:
        """This user's sessions."""
        from truepenny.agent.sessions import SessionStore

        return SessionStore(
            self.directories.state,
            self.user,
            clock=self.clock,
            ids=self.ids,
            redactor=self.redactor,
        )
