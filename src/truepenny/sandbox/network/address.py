"""Which addresses may be reached, judged by the numbers and not by the name.

A name says nothing: whoever owns it can let it point inside. So a host is resolved once, every
address that comes back is judged, and the connection goes to exactly such an address. Serves the
CONNECT proxy and whatever else fetches from the network for a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address

from .ranges import COMPATIBLE, GLOBAL_V6, INNER, NAT64, V4, V6, Kind

IP = IPv4Address | IPv6Address


class Verdict(StrEnum):
    """The machine word for a destination; all but `ALLOWED` are refusals."""

    ALLOWED = "allowed"
    METADATA = "metadata_address"
    INNER = "private_address"
    """Loopback, private or shared: an entry may allow these explicitly."""
    OUTSIDE = "unusable_address"
    """Link-local, multicast, reserved and the like: nothing allows these."""
    UNRESOLVED = "unresolved"
    """The name has no address, or nobody could be asked."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with the address and the kind that decided it.

    `addresses` may be connected to, in the resolver's order; empty unless allowed.
    """

    verdict: Verdict
    addresses: tuple[IP, ...] = ()
    decisive: IP | None = None
    kind: Kind | None = None


def kind_of(address: IP) -> Kind | None:
    """Return what an address is; None for a public one.

    An IPv6 address that stands for an IPv4 one is at least what that one is.
    """
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in V4 if address in network), None)
    if address.scope_id is not None:
        return Kind.LINK_LOCAL  # a zone only makes sense on one link
    if address.ipv4_mapped is not None:
        return kind_of(address.ipv4_mapped)
    # An exact entry or the range it lies in, before what it may carry.
    own = next((kind for network, kind in V6 if address in network), None)
    if own not in (None, Kind.TRANSITION):
        return own
    carried = [kind_of(inner) for inner in _carried(address)]
    worst = next((kind for kind in Kind if kind in carried), None)
    if worst is not None:
        return worst
    if address in NAT64:
        return None
    if own is None and address not in GLOBAL_V6:
        return Kind.RESERVED
    return own


def _carried(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that an IPv6 address may be turned into on its way."""
    packed = address.packed
    if address in NAT64 or address in COMPATIBLE:
        yield IPv4Address(packed[12:])
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe"):  # ISATAP, RFC 5214
        yield IPv4Address(packed[12:])


def judge(addresses: Iterable[IP], *, allow_inner: bool = False) -> Judgement:
    """Judge all addresses of one host: one bad one refuses it.

    A name with a public and a private address is not half good; the second is there for a retry.
    `allow_inner` allows loopback, private and shared addresses, and never metadata.
    """
    good: list[IP] = []
    for address in addresses:
        kind = kind_of(address)
        if kind is Kind.METADATA:
            return Judgement(Verdict.METADATA, decisive=address, kind=kind)
        if kind in INNER and not allow_inner:
            return Judgement(Verdict.INNER, decisive=address, kind=kind)
        if kind is not None and kind not in INNER:
            return Judgement(Verdict.OUTSIDE, decisive=address, kind=kind)
        good.append(address)
    if not good:
        return Judgement(Verdict.UNRESOLVED)
    return Judgement(Verdict.ALLOWED, tuple(good))
