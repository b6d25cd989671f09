"""Which hosts lie on the way to a host: the chain of its jump hosts, whose every mistake ends it.

Asked twice: when the settings are loaded, and again by whoever walks the chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from truepenny.errors import ConfigurationError

from .schema import nearest

MAX_JUMPS = 3
"""Jump hosts before a target (diagnostics spec 6): more are a mistake sooner than a network."""


class Jumping(Protocol):
    """What is needed of a host."""

    @property
    def jump(self) -> str | None:
        """The name of the host before it; None where it is reached directly."""
        ...


class BadJump(ConfigurationError):
    """A chain that cannot be walked. `host` is the one whose `jump` is wrong."""

    def __init__(self, host: str, message: str, remedy: str) -> None:
        super().__init__(message, where=f"hosts.{host}.jump", remedy=remedy)
        self.host = host


def jump_chain(name: str, hosts: Mapping[str, Jumping]) -> tuple[str, ...]:
    """Return the names of the jump hosts of a host, the one that is dialled first before all.

    Raises BadJump for a host that is not there, one that is met twice, and more than `MAX_JUMPS`.
    """
    chain: list[str] = []
    at = name
    while (jump := hosts[at].jump) is not None:
        if jump not in hosts:
            near = nearest(jump, hosts)
            remedy = f"Did you mean {near}?" if near else f"Add a table [hosts.{jump}]."
            raise BadJump(at, f"names no host: {jump!r}", remedy)
        if jump == at:
            raise BadJump(at, "names the host itself", "Remove it, or name the host before it.")
        if jump == name or jump in chain:
            circle = " -> ".join((name, *chain, jump))
            raise BadJump(at, f"leads in a circle: {circle}", "Remove one of these jumps.")
        if len(chain) >= MAX_JUMPS:
            remedy = "Shorten the chain, or dial a host in the middle directly."
            raise BadJump(at, f"makes more than {MAX_JUMPS} jumps on the way to {name}", remedy)
        chain.append(jump)
        at = jump
    return tuple(reversed(chain))
