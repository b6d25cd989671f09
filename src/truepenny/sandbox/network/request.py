"""Reading the one request that the proxy knows, strictly: what is odd is refused, not repaired."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from .destination import BadDestination, Destination, read_destination

HEADER_BYTES = 8 * 1024
"""The whole head. A CONNECT has some 200 bytes."""

END = b"\r\n\r\n"

_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]+) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)")
_BODY_FIELDS = frozenset({b"content-length", b"transfer-encoding"})


class Fault(StrEnum):
    """What is wrong with a request."""

    BAD_REQUEST = "bad_request"
    HEADER_TOO_LARGE = "header_too_large"
    METHOD = "method_not_allowed"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is none; `message` is for people and holds nothing of the request."""

    fault: Fault
    message: str


def read_request(head: bytes) -> Destination | Refusal:
    """Read a head that ends in an empty line."""
    lines = head.removesuffix(END).split(b"\r\n")
    # A lone line break would be a line for some and not for others.
    if any(char in line for line in lines for char in (b"\r", b"\n", b"\0")):
        return _bad("the head has a lone line break or a NUL")
    match = _LINE.fullmatch(lines[0])
    if match is None:
        return _bad("the first line is not one of HTTP/1.1")
    if match[1] != b"CONNECT":
        return Refusal(Fault.METHOD, "this proxy knows CONNECT alone; use https addresses")
    names: list[bytes] = []
    for line in lines[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            return _bad("a header line is malformed")
        names.append(field[1].lower())
    if names.count(b"host") > 1:
        return _bad("there is more than one Host")
    if _BODY_FIELDS & set(names):
        return _bad("a CONNECT has no body")
    try:
        return read_destination(match[2].decode("ascii"))
    except BadDestination as error:
        return _bad(str(error))


def _bad(message: str) -> Refusal:
    return Refusal(Fault.BAD_REQUEST, message)
