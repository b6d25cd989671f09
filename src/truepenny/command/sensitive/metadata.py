"""Addresses at which clouds hand out credentials, in every way a number can be written."""

from __future__ import annotations

import ipaddress
import re

_ADDRESSES = frozenset(
    (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
"""EC2 and its followers, ECS tasks, EKS pods, Alibaba, Azure, Oracle, EC2 and Google over IPv6."""

_NAMES = re.compile(
    r"(?:metadata|instance-data)(?:\.(?:google|goog|azure|tencentyun|internal|ec2)[a-z.]*)?\.?",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[^\]]*\]|[^/:?#\s]+)")
_PART = re.compile(r"0[xX][0-9A-Fa-f]{1,8}|[0-9]{1,11}")
_WILDCARD = re.compile(r"169[.-]254[.-]1(?:69[.-]254|70[.-]2)\b")


def metadata_host(text: str) -> str:
    """Return the host of an address or URL if it is one of a metadata service, else nothing."""
    match = _HOST.match(text)
    if match is None:
        return ""
    host = match[1].strip("[]")
    if _NAMES.fullmatch(host) or _WILDCARD.search(host):
        return host
    address = _address(host)
    return host if address in _ADDRESSES else ""


def _address(host: str) -> str:
    """The usual spelling of an address; C libraries also read octal, hex and fewer parts."""
    if ":" in host:
        try:
            address = ipaddress.IPv6Address(host.partition("%")[0])
        except ValueError:
            return ""
        mapped = address.ipv4_mapped
        return str(mapped or address)
    parts = host.rstrip(".").split(".")
    if len(parts) > 4 or not all(_PART.fullmatch(part) for part in parts):
        return ""
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return ""
    value = 0
    for number in numbers[:-1]:
        if number > 255:
            return ""
        value = value << 8 | number
    value = value << 8 * (5 - len(numbers)) | numbers[-1]
    return str(ipaddress.IPv4Address(value)) if value < 1 << 32 else ""


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part, 16)
    return int(part, 8) if part.startswith("0") and part != "0" else int(part)
