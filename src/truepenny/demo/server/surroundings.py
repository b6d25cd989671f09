"""What the server needs of a world, and nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from truepenny.demo.host.machine import Machine
from truepenny.demo.server.value import Object


class World(Protocol):
    """One cluster's state. See `truepenny.demo.world.World`, the real one."""

    objects: list[Object]
    metrics: dict[str, Any]
    """{available, pods: {(namespace, pod): {container: (cpu, memory)}}, nodes: {name: (…)}}."""

    @property
    def hosts(self) -> Sequence[Machine]:
        """The simulated machines."""
        ...

    @property
    def permissions(self) -> Mapping[str, Any]:
        """The default identity, and the others under `identities`; see `authorization`."""
        ...

    def logs(self, namespace: str, pod: str, container: str, previous: bool) -> str | None:
        """Return lines of `<RFC 3339> <text>`; None where a kubelet has none to show."""
        ...

    def exec(
        self, namespace: str, pod: str, container: str, argv: Sequence[str]
    ) -> tuple[bytes, bytes, int] | None:
        """Return stdout, stderr and exit code; None for a command that is not recorded."""
        ...
