"""Spellings of hosts: what programs would read as an address is read as that address."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, ip_address

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.sandbox.network.address import IP, Verdict
from truepenny.sandbox.network.destination import (
    BadDestination,
    read_destination,
    read_host,
    read_port,
)
from truepenny.sandbox.network.resolver import MOST_ADDRESSES, pin

LOOPBACK = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0X7F.1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "127.0.0.1.",
    "127。0。0。1",
    "１２７.０.０.１",
    "①②⑦.0.0.1",
    "::ffff:127.0.0.1",
    "[::ffff:7f00:1]",
    "0:0:0:0:0:ffff:127.0.0.1",
)


@pytest.mark.parametrize("text", LOOPBACK)
def test_spellings_of_one_address(text: str) -> None:
    host = read_host(text)
    assert host.address == IPv4Address("127.0.0.1")
    assert host.name == "127.0.0.1"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("EXAMPLE。com", "example.com"),
        ("ｅｘａｍｐｌｅ.com", "example.com"),
        ("_srv.example.com", "_srv.example.com"),
        ("a.b-c.d1", "a.b-c.d1"),
        ("localhost", "localhost"),
        ("2001:DB8:0::1", "2001:db8::1"),
    ],
)
def test_one_form(text: str, name: str) -> None:
    assert read_host(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "a..b",
        ".example.com",
        "example.com..",
        "-a.example",
        "a-.example",
        "a b",
        "a\tb",
        "a\0b",
        "a\nb",
        "a@b",
        "a/b",
        "a\\b",
        "a?b",
        "a#b",
        "a%2eb",
        "a,b",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "4294967296",
        "0x100000000",
        "08.1.1.1",
        "1.2.3.0x",
        "example.1",
        "example.0x1f",
        "1" * 5000,
        "a" * 64,
        "ä" * 1_000_000,
        "a." * 127 + "ab",
        "[127.0.0.1]",
        "[::1",
        "::1]",
        "fe80::1%eth0",
        "[fe80::1%25eth0]",
        "::1::",
        "1:2",
        "exa­mple\u200b\u0000",
        "\ud800",
    ],
)
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(BadDestination):
        read_host(text)


@pytest.mark.parametrize(
    "text",
    ["", "0", "00443", "65536", "-1", "+443", " 443", "4_43", "４４３", "0x1bb", "443 ", "9" * 99],
)
def test_what_is_no_port(text: str) -> None:
    with pytest.raises(BadDestination):
        read_port(text)


def test_destinations() -> None:
    assert str(read_destination("Example.com.:443")) == "example.com:443"
    assert str(read_destination("[2606:4700::1]:8443")) == "[2606:4700::1]:8443"
    assert str(read_destination("0x7f.1:80")) == "127.0.0.1:80"
    assert read_destination("127.1:1") == read_destination("[::ffff:127.0.0.1]:1")
    for bad in ("example.com", "::1:443", "example.com:", ":443", "a:b:443", "http://a:443"):
        with pytest.raises(BadDestination):
            read_destination(bad)


@given(st.text(max_size=40))
def test_any_text_is_one_form_or_refused(text: str) -> None:
    try:
        host = read_host(text)
    except BadDestination:
        return
    assert read_host(host.name) == host
    assert host.name.isascii()
    assert host.name == host.name.lower()
    assert re.fullmatch(r"[a-z0-9_.:-]+", host.name)


@given(st.text(alphabet="0123456789.xXabf", min_size=1, max_size=18))
def test_what_the_c_library_reads_as_an_address_is_that_address(text: str) -> None:
    try:
        known = IPv4Address(socket.inet_aton(text))
    except OSError:
        return
    try:
        host = read_host(text)
    except BadDestination:
        return
    assert host.address == known


@given(st.ip_addresses())
def test_addresses_stay_themselves(address: IP) -> None:
    host = read_host(str(address))
    mapped = getattr(address, "ipv4_mapped", None)
    assert host.address == (mapped or address)


@pytest.mark.anyio
async def test_a_name_is_resolved_once_and_all_of_it_is_judged() -> None:
    asked: list[tuple[str, int]] = []

    async def answer(name: str, port: int) -> tuple[IP, ...]:
        asked.append((name, port))
        return (ip_address("1.1.1.1"), ip_address("10.0.0.1"))

    judged = await pin(read_destination("rebind.example:443"), resolver=answer)
    assert judged.verdict is Verdict.INNER
    assert judged.decisive == ip_address("10.0.0.1")
    assert judged.addresses == ()
    assert asked == [("rebind.example", 443)]
    allowed = await pin(read_destination("rebind.example:443"), allow_inner=True, resolver=answer)
    assert allowed.addresses == (ip_address("1.1.1.1"), ip_address("10.0.0.1"))


@pytest.mark.anyio
async def test_numbers_are_never_asked_for() -> None:
    async def never(name: str, port: int) -> tuple[IP, ...]:
        raise AssertionError(name)

    for text in ("2130706433:80", "[::1]:80", "169.254.169.254:80"):
        judged = await pin(read_destination(text), resolver=never)
        assert judged.verdict is not Verdict.ALLOWED


@pytest.mark.anyio
async def test_no_answer_is_unresolved() -> None:
    async def fails(name: str, port: int) -> tuple[IP, ...]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    async def endless(name: str, port: int) -> tuple[IP, ...]:
        return tuple(IPv4Address(0x01010101 + at) for at in range(MOST_ADDRESSES + 1))

    for resolver in (fails, endless):
        judged = await pin(read_destination("gone.example:443"), resolver=resolver)
        assert judged.verdict is Verdict.UNRESOLVED


@pytest.mark.anyio
async def test_the_system_knows_this_machine() -> None:
    with anyio.fail_after(30):
        judged = await pin(read_destination("localhost:80"))
    assert judged.verdict is Verdict.INNER
