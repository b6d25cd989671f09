"""Asking for the addresses of a host, once."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

import anyio

from .address import IP, Judgement, Verdict, judge
from .destination import Destination

RESOLVE_SECONDS = 10.0
"""A resolver that needs longer has lost the question; glibc gives up after two tries of 5."""

MOST_ADDRESSES = 32
"""A host with more is treated as having none: nobody judges an endless list."""

Resolver = Callable[[str, int], Awaitable[tuple[IP, ...]]]
"""Takes a name and a port, returns the addresses; raises OSError where there are none."""


async def resolve(name: str, port: int) -> tuple[IP, ...]:
    """Ask the system, which reads /etc/hosts as well as it asks name servers."""
    found = await anyio.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(entry[4][0]) for entry in found))


async def pin(
    destination: Destination, *, allow_inner: bool = False, resolver: Resolver = resolve
) -> Judgement:
    """Resolve and judge a destination. Connect to nothing but the `addresses` that come back."""
    host = destination.host
    if host.address is not None:
        return judge([host.address], allow_inner=allow_inner)
    found: tuple[IP, ...] = ()
    with anyio.move_on_after(RESOLVE_SECONDS):
        try:
            found = await resolver(host.name, destination.port)
        except (OSError, UnicodeError, ValueError):
            pass
    if len(found) > MOST_ADDRESSES:
        return Judgement(Verdict.UNRESOLVED)
    return judge(found, allow_inner=allow_inner)
