"""Private keys in their written forms, and password hashes."""

from __future__ import annotations

import base64
import binascii
import gzip
import re

from truepenny.text.rule import Rule, Span

from .example import upper, word

_BEGIN = "-----BEGIN "
_END = "-----END "


def _pem(match: re.Match[str]) -> Span:
    if match.group("end"):
        return Span(match.start(), match.end(), "-\"'\n")
    at_end = match.end() == len(match.string) or match.string[match.end()] == "\n"
    return Span(match.start(), match.end(), "-\"'\n", "pem" if at_end else "")


def _encoded_pem(match: re.Match[str]) -> Span | None:
    head = match.group()[:64]
    try:
        text = base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    return Span(match.start(), match.end()) if b"PRIVATE KEY" in text else None


def _packed(match: re.Match[str]) -> Span | None:
    """Compressed text, once or twice encoded, as Helm keeps a release: nobody can read it as it is,
    and what is inside cannot be judged line by line."""
    head = match.group()[:64].translate(_STANDARD)
    data = base64.b64decode(head)
    if data.startswith(b"H4sI"):
        data = base64.b64decode(data[: len(data) // 4 * 4])
    return Span(match.start(), match.end()) if data.startswith(b"\x1f\x8b\x08") else None


_STANDARD = str.maketrans("-_", "+/")
_EXAMPLE_RELEASE = gzip.compress(f'{{"name": "shop", "manifest": "{word(200)}"}}'.encode(), mtime=0)
_EXAMPLE_BODY = word(64)
_EXAMPLE_PEM = f"{_BEGIN}RSA PRIVATE KEY-----\n{_EXAMPLE_BODY}\n{_END}RSA PRIVATE KEY-----"
_EXAMPLE_CERTIFICATE = f"{_BEGIN}CERTIFICATE-----\n{_EXAMPLE_BODY}\n{_END}CERTIFICATE-----"

RULES = (
    Rule(
        "private-key",
        (_BEGIN,),
        rf"{_BEGIN}[A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:(?!{_END})[^\"\n])*(?P<end>{_END}[A-Z0-9 ]{{1,60}}-----)?",
        (
            _EXAMPLE_PEM,
            _EXAMPLE_PEM.replace("RSA ", "OPENSSH "),
            _EXAMPLE_PEM.replace("\n", "\\n"),
            f"key: {_BEGIN}EC PRIVATE KEY-----\n{_EXAMPLE_BODY}\n",
        ),
        (_EXAMPLE_CERTIFICATE, _EXAMPLE_CERTIFICATE.replace("CERTIFICATE", "PUBLIC KEY")),
        locate=_pem,
    ),
    Rule(
        "private-key-base64",
        ("LS0tLS1CRUdJTi",),
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/_-]{30,}={0,2}",
        (base64.b64encode(_EXAMPLE_PEM.encode("ascii")).decode("ascii"),),
        (base64.b64encode(_EXAMPLE_CERTIFICATE.encode("ascii")).decode("ascii"),),
        locate=_encoded_pem,
    ),
    Rule(
        "packed",
        ("H4sIA", "SDRzSU"),
        r"(?:H4sIA|SDRzSU)[A-Za-z0-9+/_-]{59,}={0,2}",
        (
            base64.b64encode(_EXAMPLE_RELEASE).decode("ascii"),
            base64.b64encode(base64.b64encode(_EXAMPLE_RELEASE)).decode("ascii"),
        ),
        ("H4sIA is how gzip begins in base64", "SDRzSUFB"),
        locate=_packed,
    ),
    Rule(
        "age-secret-key",
        ("AGE-SECRET-KEY-1",),
        r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
        ("AGE-SECRET-KEY-1" + upper(58),),
        ("AGE-SECRET-KEY-1X",),
    ),
    Rule(
        "password-hash",
        ("$2a$", "$2b$", "$2y$", "$apr1$", "$1$", "$5$", "$6$", "$y$", "$argon2"),
        r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|(?:apr1|1|5|6|y)\$[^\s:$'\"]{1,64}\$[./A-Za-z0-9$]{20,}"
        r"|argon2(?:id|i|d)\$[^\s:'\"]{40,})",
        ("bob:$2b$12$" + word(53), "root:$6$" + word(16) + "$" + word(86) + ":19000:0:"),
        ("awk '{print $1$2}'", "$1$2", "cost $5$ or $6$"),
    ),
)
