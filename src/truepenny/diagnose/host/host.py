"""The hosts that tools may reach, by name. Fixed when a session starts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from truepenny.config.host_secret import HostSecrets, host_secrets, too_short
from truepenny.config.jump import jump_chain
from truepenny.errors import ConfigurationError
from truepenny.execute.ending import Outcome
from truepenny.model.message import Text
from truepenny.tool.result import NEVER_RAN, Facts, Result

from .known_hosts import KnownHosts

if TYPE_CHECKING:
    from truepenny.config.settings import HostSettings, Settings
    from truepenny.system.directories import Directories

NO_HOST_REMEDY = "Add a table [hosts.NAME] with address, user and key to the settings."

AGENT_VARIABLE = "SSH_AUTH_SOCK"


@dataclass(frozen=True, slots=True)
class Host:
    """One host. `auth` is `key`, `password` or `agent`; `jump` the host before it.

    `entry` and `env` are where its secrets are, which are read when it is dialled and not before.
    """

    name: str
    entry: HostSettings = field(repr=False)
    env: Mapping[str, str] = field(repr=False)

    @property
    def address(self) -> str:
        """Name or address, without the brackets of an IPv6 address."""
        return self.entry.address.strip("[]")

    @property
    def port(self) -> int:
        return self.entry.port

    @property
    def jump(self) -> str | None:
        return self.entry.jump

    @property
    def place(self) -> str:
        """Address and port, as they are written together."""
        shown = f"[{self.address}]" if ":" in self.address else self.address
        return f"{shown}:{self.port}"

    def secrets(self) -> HostSecrets:
        """Return what logs in. Raises ConfigurationError where it is missing or unusable."""
        found = host_secrets(self.name, self.entry, self.env)
        if too_short(found):
            raise ConfigurationError(
                "a secret of this host is too short to be kept out of outputs",
                where=f"hosts.{self.name}",
                remedy="Use a longer one.",
            )
        if self.entry.auth == "agent" and not self.env.get(AGENT_VARIABLE):
            raise ConfigurationError(
                f"auth is 'agent' and {AGENT_VARIABLE} is not set",
                where=f"hosts.{self.name}.auth",
                remedy="Start an SSH agent, or use a key.",
            )
        return found

    @property
    def problem(self) -> str:
        """Why it cannot be dialled as things stand; empty where nothing is known against it."""
        try:
            self.secrets()
        except ConfigurationError as error:
            return f"{error.where}: {error.message}"
        return ""


@dataclass(frozen=True, slots=True)
class UnboundHost:
    """No host for a request. `reason` is `host_not_bound` or `no_host`."""

    reason: str
    message: str
    known: tuple[str, ...] = ()
    hint: str = ""

    def result(self) -> Result:
        """Return it as the result of a tool call: nothing ran."""
        missing = self.reason == "no_host"
        outcome = Outcome.MISSING_DEPENDENCY if missing else Outcome.INVALID_ARGUMENTS
        detail = {"available_hosts": list(self.known)}
        facts = Facts(completeness=NEVER_RAN, reason=self.reason, hint=self.hint, detail=detail)
        return Result(outcome, (Text(self.message),), facts)


class Hosts:
    """The bound hosts in the order they were configured; iterable. `known` are their keys."""

    def __init__(self, bound: Iterable[Host] = (), known: KnownHosts | None = None) -> None:
        self._bound = {host.name: host for host in bound}
        self.known = known

    def __iter__(self) -> Iterator[Host]:
        return iter(self._bound.values())

    @classmethod
    def from_settings(
        cls, settings: Settings, env: Mapping[str, str], directories: Directories
    ) -> Hosts:
        """Bind the hosts of the settings. Nothing is dialled, and no secret is read."""
        bound = (Host(name, entry, env) for name, entry in settings.hosts.items())
        return cls(bound, KnownHosts(directories.state))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._bound)

    def get(self, name: str) -> Host | UnboundHost:
        """Return the named host."""
        if not self._bound:
            return UnboundHost("no_host", "no host is bound", (), NO_HOST_REMEDY)
        host = self._bound.get(name)
        if host is not None:
            return host
        near = difflib.get_close_matches(name, self.names, n=1)
        return UnboundHost(
            "host_not_bound",
            f"no host {name!r} is bound; host_list names those that are",
            self.names,
            f"host: {near[0]}" if near else "",
        )

    def way(self, host: Host) -> tuple[Host, ...]:
        """Return the hosts to dial in order, this one last. Raises BadJump."""
        return (*(self._bound[name] for name in jump_chain(host.name, self._bound)), host)

    def identity(self, host: Host) -> str:
        """Return what its key is kept under: its place, behind those of its jump hosts.

        The same private address behind two jump hosts is two machines.
        """
        *before, last = (hop.place for hop in self.way(host))
        return " via ".join((last, *reversed(before)))
