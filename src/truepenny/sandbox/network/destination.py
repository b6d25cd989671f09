"""Hosts and ports as people and programs write them, brought to the one form that is compared.

Programs accept more spellings of an address than they show: `127.1`, `0x7f000001`, `2130706433`,
`0177.0.0.1`, full-width digits. All of them are read here as the number they mean, or refused;
what is left is a name that cannot be taken for a number by anybody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

from .address import IP

MOST_NAME = 253
"""Characters of a whole name (RFC 1035)."""

LONGEST_TEXT = 1024
"""Characters of a host as it is written: room for a whole name in any script, and no more work."""

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_PART = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})


class BadDestination(ValueError):
    """The text is not a host, or not `host:port`; the message says why and is fit to be shown."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host in its one form: lower case, ASCII, no final dot; `address` where it is a number."""

    name: str
    address: IP | None = None

    def __str__(self) -> str:
        return f"[{self.name}]" if isinstance(self.address, IPv6Address) else self.name


@dataclass(frozen=True, slots=True)
class Destination:
    """One host with one port."""

    host: Host
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def read_host(text: str) -> Host:
    """Read a host; an IPv6 address with or without brackets. Raises BadDestination."""
    if not text:
        raise BadDestination("the host is empty")
    if len(text) > LONGEST_TEXT:
        raise BadDestination("the host is too long")
    if any(ord(char) <= 0x20 or ord(char) == 0x7F for char in text):
        raise BadDestination("the host contains a blank or a control character")
    if text.startswith("[") != text.endswith("]"):
        raise BadDestination("the host has one bracket without the other")
    bare = text[1:-1] if text.startswith("[") else text
    if ":" in bare:
        return _v6(bare)
    if bare != text:
        raise BadDestination("only an IPv6 address stands in brackets")
    name = _ascii(bare)
    last = name.rpartition(".")[2]
    if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last):
        # Whoever resolves this will read it as a number, so it is one or it is nothing.
        address = _v4(name)
        return Host(str(address), address)
    if len(name) > MOST_NAME or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise BadDestination("the host is not a name")
    return Host(name)


def read_port(text: str) -> int:
    """Read a port from 1 to 65535 in plain digits. Raises BadDestination."""
    if not _PORT.fullmatch(text) or not text.isascii() or int(text) > 65535:
        raise BadDestination("the port is not a number from 1 to 65535")
    return int(text)


def read_destination(text: str) -> Destination:
    """Read `host:port`, `[v6]:port` included. Raises BadDestination."""
    host, separator, port = text.rpartition(":")
    if not separator:
        raise BadDestination("there is no port")
    if ":" in host and not host.startswith("["):
        raise BadDestination("an IPv6 address with a port stands in brackets")
    return Destination(read_host(host), read_port(port))


def _v6(text: str) -> Host:
    if "%" in text:
        raise BadDestination("the address names a zone")
    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise BadDestination("the host is not an IPv6 address") from None
    if address.ipv4_mapped is not None:
        # The socket would be an IPv4 one: so it is the same host as that.
        return Host(str(address.ipv4_mapped), address.ipv4_mapped)
    return Host(str(address), address)


def _ascii(text: str) -> str:
    """Return the name in small ASCII letters without its final dot."""
    name = text.translate(_DOTS).removesuffix(".")
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError:
            # Digits in another script are no name but may be read as a number.
            try:
                name = idna.uts46_remap(name)
            except idna.IDNAError:
                name = ""
            if not re.fullmatch(r"[0-9a-fxX.]+", name):
                raise BadDestination("the host is not a name in any language") from None
            name = name.removesuffix(".")
    return name.lower()


def _v4(text: str) -> IPv4Address:
    """Read one to four numbers, decimal, octal or hexadecimal, as the C library does."""
    parts = text.split(".")
    if len(parts) > 4 or not all(_PART.fullmatch(part) for part in parts):
        raise BadDestination("the host ends like a number and is none")
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        raise BadDestination("the host ends like a number and is none") from None
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(parts)):
        raise BadDestination("the number is too large for an address")
    value = numbers[-1]
    for at, number in enumerate(numbers[:-1]):
        value += number << (8 * (3 - at))
    return IPv4Address(value)


def _number(part: str) -> int:
    if len(part) > 64:
        raise ValueError(part[:64])
    if part[:2] in ("0x", "0X"):
        return int(part[2:], 16)
    return int(part, 8 if part.startswith("0") and len(part) > 1 else 10)
