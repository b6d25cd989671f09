"""A place for the keys that are known, and a way to call the tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from truepenny.config.settings import Settings
from truepenny.diagnose.host.host import Host, Hosts
from truepenny.diagnose.host.host_exec import host_exec_tool
from truepenny.diagnose.host.host_list import host_list_tool
from truepenny.diagnose.host.known_hosts import KnownHosts
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result


class World:
    """Hosts by their settings, over one folder of known keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env: Mapping[str, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.redactor = Redactor()

    @property
    def known(self) -> KnownHosts:
        """As after a restart: nothing is held in memory."""
        return KnownHosts(self.folder / "state")

    @property
    def hosts(self) -> Hosts:
        settings = Settings.model_validate({"hosts": self.entries}, strict=False)
        bound = (Host(name, entry, self.env) for name, entry in settings.hosts.items())
        return Hosts(bound, self.known)

    def host(self, name: str) -> Host:
        found = self.hosts.get(name)
        assert isinstance(found, Host)
        return found

    @property
    def context(self) -> CallContext:
        return CallContext("user", "session", "call_1", self.folder, self.redactor)

    async def exec(self, host: str, command: str, **arguments: Any) -> Result:
        tool = host_exec_tool(self.hosts)
        return await tool.run({"host": host, "command": command, **arguments}, self.context)

    async def list(self, **arguments: Any) -> Result:
        return await host_list_tool(self.hosts).run(arguments, self.context)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
