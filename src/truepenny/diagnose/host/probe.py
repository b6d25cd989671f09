"""Whether a host can be dialled and runs a command: asked by a person, changes nothing there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import anyio

from truepenny.errors import ConfigurationError

from .channel import ask
from .dial import dial
from .failure import DialFailed, Stage
from .host import Host, Hosts, UnboundHost
from .known_hosts import KnownKey

PROBE_SECONDS = 10.0
"""One probe from its first packet to the answer."""

PROBES_AT_ONCE = 8
"""Enough that one hung host holds up none of the others."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe found. `failure` None: it answered. `seconds` are those of dialling alone."""

    host: Host
    seconds: float = 0.0
    way: tuple[str, ...] = ()
    key: KnownKey | None = None
    first_use: tuple[str, ...] = ()
    failure: DialFailed | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; `stage` and what follows only where it failed."""
        failed = self.failure
        made: dict[str, Any] = {"host": self.host.name, "ok": failed is None}
        if failed is None:
            return made | {
                "seconds": round(self.seconds, 3),
                "way": list(self.way),
                "host_key": str(self.key),
                "first_use": list(self.first_use),
            }
        return made | {
            "stage": failed.stage,
            "hop": failed.hop,
            "hop_stage": failed.hop_stage,
            "message": failed.message,
            "remedy": failed.remedy,
            **failed.detail,
        }


def bound(hosts: Hosts, name: str) -> Host:
    """Return the named host. Raises ConfigurationError where it is not bound."""
    host = hosts.get(name)
    if isinstance(host, UnboundHost):
        remedy = f"Did you mean {host.hint.removeprefix('host: ')}?" if host.hint else ""
        if host.reason == "no_host":
            remedy = host.hint
        raise ConfigurationError(f"there is no host {name!r}", where="hosts", remedy=remedy)
    return host


async def probe(hosts: Hosts, host: Host, user: str) -> Probe:
    """Dial a host and let it say a word."""
    import asyncssh

    began = time.monotonic()
    try:
        with anyio.fail_after(PROBE_SECONDS):
            async with dial(hosts, host, user) as connection:
                seconds = time.monotonic() - began
                said, status = await ask(connection.ssh, "echo ok", PROBE_SECONDS)
    except DialFailed as failure:
        return Probe(host, failure=failure)
    except TimeoutError:
        return _failed(host, Stage.NETWORK, f"did not answer within {PROBE_SECONDS:g} s")
    except (asyncssh.Error, OSError) as error:
        return _failed(host, Stage.UNKNOWN, f"it runs no command: {error}")
    if said.split()[-1:] != ["ok"] or status.observed != 0:
        told = f"`echo ok` came to {status.observed}, and said {said[:80]!r}"
        return _failed(host, Stage.UNKNOWN, told)
    return Probe(host, seconds, connection.way, connection.key, connection.first_use)


async def probe_all(hosts: Hosts, user: str) -> list[Probe]:
    """Probe every host at once; the answers are in the order of the hosts."""
    limiter, found = anyio.CapacityLimiter(PROBES_AT_ONCE), dict[str, Probe]()

    async def one(host: Host) -> None:
        async with limiter:
            found[host.name] = await probe(hosts, host, user)

    async with anyio.create_task_group() as tasks:
        for host in hosts:
            tasks.start_soon(one, host)
    return [found[host.name] for host in hosts]


def _failed(host: Host, stage: Stage, message: str) -> Probe:
    return Probe(host, failure=DialFailed(host.name, host.name, stage, message))
