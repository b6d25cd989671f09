"""The levels of containment, and what each back end reports about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """What really holds a process. A result names it, always (architecture, law 1)."""

    BWRAP = "bwrap"
    """Namespaces of its own, made by bubblewrap: files, processes, network, users."""
    LANDLOCK = "landlock"
    """The kernel's file and network rules and a system call filter: no namespaces needed."""
    NONE = "none"
    """The rights of the account it runs as, and nothing less."""


class LimitLayout(StrEnum):
    """What holds memory, processes and processor time."""

    CGROUP_V2 = "cgroup_v2"
    CGROUP_V1 = "cgroup_v1"
    RLIMITS = "rlimits"
    """Limits for each process alone, where no control group is delegated to us."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Containment:
    """What is in force around one process; every word of it was probed or verified.

    `account` is the name of the account it runs as. `network` is `none`, `proxy` or `host`.
    `gaps` names what this level cannot stop (words of `truepenny.sandbox.gap`).
    """

    level: Level = Level.NONE
    limits: LimitLayout = LimitLayout.NONE
    account: str = ""
    network: str = "host"
    gaps: tuple[str, ...] = ()

    def facts(self) -> Mapping[str, str]:
        """Return it as words for `Facts.containment`."""
        found = {"limits": str(self.limits), "account": self.account, "network": self.network}
        return {**found, "gaps": ", ".join(self.gaps)} if self.gaps else found
