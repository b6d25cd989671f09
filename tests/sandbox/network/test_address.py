"""Addresses: each range by its edges, what carries another address, and the standard library as a
second opinion."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.sandbox.network.address import Verdict, judge, kind_of
from truepenny.sandbox.network.ranges import INNER, V4, V6, Kind

PUBLIC = ("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0")
PUBLIC_6 = ("2606:4700::1111", "2a00:1450::1", "2620:0:2d0:200::7", "::ffff:8.8.8.8")

KINDS = {
    "0.0.0.0": Kind.UNSPECIFIED,
    "0.1.2.3": Kind.UNSPECIFIED,
    "10.0.0.1": Kind.PRIVATE,
    "100.64.0.1": Kind.SHARED,
    "100.100.100.200": Kind.METADATA,
    "127.255.255.254": Kind.LOOPBACK,
    "168.63.129.16": Kind.METADATA,
    "169.254.1.1": Kind.LINK_LOCAL,
    "169.254.169.254": Kind.METADATA,
    "172.16.0.0": Kind.PRIVATE,
    "172.31.255.255": Kind.PRIVATE,
    "192.168.1.1": Kind.PRIVATE,
    "198.19.255.255": Kind.BENCHMARK,
    "203.0.113.9": Kind.DOCUMENTATION,
    "224.0.0.1": Kind.MULTICAST,
    "239.255.255.255": Kind.MULTICAST,
    "240.0.0.1": Kind.RESERVED,
    "255.255.255.255": Kind.BROADCAST,
    "::": Kind.UNSPECIFIED,
    "::1": Kind.LOOPBACK,
    "::7f00:1": Kind.LOOPBACK,  # IPv4-compatible
    "::808:808": Kind.RESERVED,
    "::ffff:127.0.0.1": Kind.LOOPBACK,
    "::ffff:169.254.169.254": Kind.METADATA,
    "64:ff9b::169.254.169.254": Kind.METADATA,
    "64:ff9b::10.0.0.1": Kind.PRIVATE,
    "64:ff9b:1::1": Kind.RESERVED,
    "100::1": Kind.RESERVED,
    "2001::1": Kind.UNSPECIFIED,  # Teredo with the server 0.0.0.0
    "2001:0:808:808::f7f7:f7f7": Kind.TRANSITION,
    "2001:0:808:808::80ff:fffe": Kind.LOOPBACK,  # the client's address is inverted
    "2001:db8::1": Kind.DOCUMENTATION,
    "2001:10::1": Kind.RESERVED,
    "2002:7f00:1::": Kind.LOOPBACK,
    "2002:a9fe:a9fe::1": Kind.METADATA,
    "2002:808:808::1": Kind.TRANSITION,
    "2606:4700::5efe:10.0.0.1": Kind.PRIVATE,  # ISATAP
    "2606:4700::200:5efe:192.168.0.1": Kind.PRIVATE,
    "4000::1": Kind.RESERVED,
    "fc00::1": Kind.PRIVATE,
    "fd00:ec2::254": Kind.METADATA,
    "fe80::1": Kind.LINK_LOCAL,
    "fe80::1%eth0": Kind.LINK_LOCAL,
    "2606:4700::1111%eth0": Kind.LINK_LOCAL,
    "fec0::1": Kind.PRIVATE,
    "ff02::1": Kind.MULTICAST,
}


@pytest.mark.parametrize(("text", "kind"), KINDS.items())
def test_kinds(text: str, kind: Kind) -> None:
    assert kind_of(ip_address(text)) is kind


@pytest.mark.parametrize("text", PUBLIC + PUBLIC_6)
def test_public_addresses(text: str) -> None:
    assert kind_of(ip_address(text)) is None


def test_every_range_decides_something() -> None:
    for table in ([network for network, _ in V4], [network for network, _ in V6]):
        for at, network in enumerate(table):
            covering = [earlier for earlier in table[:at] if network[0] in earlier]
            assert not [wide for wide in covering if network[-1] in wide], network


@given(st.ip_addresses(v=4))
def test_what_the_standard_library_calls_private_is_never_public(address: IPv4Address) -> None:
    if not address.is_global:
        assert kind_of(address) is not None


@given(st.ip_addresses(v=6))
def test_the_same_for_the_newer_addresses(address: IPv6Address) -> None:
    if not address.is_global and address.ipv4_mapped is None:
        assert kind_of(address) is not None


@given(st.ip_addresses(v=4))
def test_what_carries_an_address_is_never_better_than_it(address: IPv4Address) -> None:
    kind = kind_of(address)
    number = int(address)
    mapped = IPv6Address((0xFFFF << 32) | number)
    nat64 = IPv6Address((0x64FF9B << 96) | number)
    sixtofour = IPv6Address((0x2002 << 112) | (number << 80))
    assert kind_of(mapped) is kind
    if kind is not None:
        assert kind_of(nat64) is kind
        assert kind_of(sixtofour) is kind
        for carrier in (mapped, nat64, sixtofour):
            assert judge([carrier]).verdict is not Verdict.ALLOWED
    assert kind_of(sixtofour) is not None


@given(st.lists(st.ip_addresses(), max_size=6))
def test_one_bad_address_refuses_all(addresses: list[IPv4Address | IPv6Address]) -> None:
    judged = judge(addresses)
    good = bool(addresses) and all(kind_of(address) is None for address in addresses)
    assert (judged.verdict is Verdict.ALLOWED) is good
    assert judged.addresses == (tuple(addresses) if good else ())


def test_only_inner_addresses_can_be_allowed() -> None:
    for text, kind in KINDS.items():
        judged = judge([ip_address(text)], allow_inner=True)
        assert (judged.verdict is Verdict.ALLOWED) is (kind in INNER), text
    assert judge([ip_address("127.0.0.1")]).verdict is Verdict.INNER
    assert judge([ip_address("169.254.169.254")], allow_inner=True).verdict is Verdict.METADATA
    assert judge([]).verdict is Verdict.UNRESOLVED
