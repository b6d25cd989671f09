"""Ranges of addresses that are not the public internet, each with the word for it.

From IANA's special-purpose registries for IPv4 and IPv6, and the clouds' own documents for the
metadata services. First match decides, so single addresses come before the ranges around them.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network


class Kind(StrEnum):
    """What an address is, where it is not a public one."""

    METADATA = "metadata"
    """Hands out a cloud machine's own credentials."""
    LOOPBACK = "loopback"
    PRIVATE = "private"
    SHARED = "shared"
    """Between a provider and its customers (RFC 6598)."""
    LINK_LOCAL = "link_local"
    MULTICAST = "multicast"
    BROADCAST = "broadcast"
    UNSPECIFIED = "unspecified"
    DOCUMENTATION = "documentation"
    BENCHMARK = "benchmark"
    TRANSITION = "transition"
    """Carries an IPv4 address to a relay of somebody else's (6to4, Teredo, ISATAP)."""
    RESERVED = "reserved"


INNER = frozenset({Kind.LOOPBACK, Kind.PRIVATE, Kind.SHARED})
"""What an entry may allow explicitly. Metadata, link-local and the rest have no business there."""

V4: tuple[tuple[IPv4Network, Kind], ...] = tuple(
    (IPv4Network(text), kind)
    for text, kind in (
        ("169.254.169.254/32", Kind.METADATA),  # most clouds
        ("169.254.169.253/32", Kind.METADATA),  # AWS, names
        ("169.254.170.2/32", Kind.METADATA),  # AWS, containers
        ("169.254.170.23/32", Kind.METADATA),  # AWS, pods
        ("169.254.0.23/32", Kind.METADATA),  # Tencent
        ("100.100.100.200/32", Kind.METADATA),  # Alibaba
        ("168.63.129.16/32", Kind.METADATA),  # Azure; in a public range
        ("192.0.0.192/32", Kind.METADATA),  # Oracle, older
        ("0.0.0.0/8", Kind.UNSPECIFIED),  # Linux connects 0.0.0.0 to itself
        ("10.0.0.0/8", Kind.PRIVATE),
        ("100.64.0.0/10", Kind.SHARED),
        ("127.0.0.0/8", Kind.LOOPBACK),
        ("169.254.0.0/16", Kind.LINK_LOCAL),
        ("172.16.0.0/12", Kind.PRIVATE),
        ("192.0.0.0/24", Kind.RESERVED),
        ("192.0.2.0/24", Kind.DOCUMENTATION),
        ("192.88.99.0/24", Kind.TRANSITION),
        ("192.168.0.0/16", Kind.PRIVATE),
        ("198.18.0.0/15", Kind.BENCHMARK),
        ("198.51.100.0/24", Kind.DOCUMENTATION),
        ("203.0.113.0/24", Kind.DOCUMENTATION),
        ("224.0.0.0/4", Kind.MULTICAST),
        ("255.255.255.255/32", Kind.BROADCAST),
        ("240.0.0.0/4", Kind.RESERVED),
    )
)

V6: tuple[tuple[IPv6Network, Kind], ...] = tuple(
    (IPv6Network(text), kind)
    for text, kind in (
        ("fd00:ec2::254/128", Kind.METADATA),  # AWS
        ("fd00:ec2::253/128", Kind.METADATA),
        ("fd00:ec2::23/128", Kind.METADATA),
        ("fd20:ce::254/128", Kind.METADATA),  # Google
        ("fe80::a9fe:a9fe/128", Kind.METADATA),  # OpenStack
        ("::/128", Kind.UNSPECIFIED),
        ("::1/128", Kind.LOOPBACK),
        ("fc00::/7", Kind.PRIVATE),
        ("fec0::/10", Kind.PRIVATE),  # site-local, withdrawn, still routed by some
        ("fe80::/10", Kind.LINK_LOCAL),
        ("ff00::/8", Kind.MULTICAST),
        ("2001::/32", Kind.TRANSITION),
        ("2002::/16", Kind.TRANSITION),
        ("2001:2::/48", Kind.BENCHMARK),
        ("2001:db8::/32", Kind.DOCUMENTATION),
        ("3fff::/20", Kind.DOCUMENTATION),
        ("2001::/23", Kind.RESERVED),
    )
)

GLOBAL_V6 = IPv6Network("2000::/3")
"""All that is handed out as public; the rest of IPv6 is reserved, whatever will become of it."""

NAT64 = IPv6Network("64:ff9b::/96")
"""The well-known prefix (RFC 6052): stands for the IPv4 address in its last 32 bits."""

COMPATIBLE = IPv6Network("::/96")
"""IPv4 in IPv6's clothes, withdrawn (RFC 4291)."""
