"""Secrets that are packed: text that was compressed or encoded as a whole, perhaps several times.

Helm keeps a release as base64 of base64 of gzip; cloud-init, CRDs and binary entries of a ConfigMap
hold whole files as base64. Such a value is unpacked, within limits, and judged by what is inside.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable

MIN_PACKED = 24
"""Characters: a shorter one holds no `name: secret`."""

KEY_LENGTHS = (40, 44, 88)
"""Characters of a key that is known by its shape."""

MAX_LAYERS = 4
"""One more than Helm uses. What is packed deeper is not readable, so not shown."""

MAX_UNPACKED = 4 * 1024 * 1024
"""Bytes of one layer. What unpacks to more is not read, so not shown: it may be a bomb."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}[A-Za-z0-9+/_\s-]*={0,2}\s*")
_KEYS = re.compile(r"[A-Za-z0-9+/]{40}|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==")
"""40: a secret access key of AWS. 44 and 88: 32 and 64 bytes, as Fernet and Azure write theirs."""

_DIGEST_NAME = re.compile(
    r"sha|digest|checksum|hash|integrity|fingerprint|etag|md5|thumbprint|nonce|salt|signature|cert"
    r"|ca_?bundle|public|revision|continue|uid",
    re.IGNORECASE,
)
_GZIP = (b"\x1f\x8b\x08", b"\x1f\x8b\x00")


def holds_secret(value: str, judge: Callable[[str], bool]) -> bool:
    """Whether an encoded or compressed text has a secret inside; `judge` looks at plain text.

    A text that is not packed is no matter for this function: False.
    """
    if len(value) < MIN_PACKED or not _BASE64.fullmatch(value):
        return False
    data = value.encode("ascii", "replace")
    for _ in range(MAX_LAYERS):
        unpacked = _peel(data)
        if unpacked is None:
            return data.startswith(_GZIP)  # compressed, and it cannot be read
        if len(unpacked) > MAX_UNPACKED:
            return True
        data = unpacked
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if not _BASE64.fullmatch(text):
            return _printable(text) and judge(text)
    return True


def looks_like_key(name: str, value: str) -> bool:
    """Whether a value has the exact shape of a random key, under a name that does not explain it.

    No entropy rule: the length must be that of a key, and base64 of readable text is none.
    """
    if len(value) not in KEY_LENGTHS or not _KEYS.fullmatch(value) or _DIGEST_NAME.search(name):
        return False
    classes = (str.islower, str.isupper, str.isdigit)
    if not all(any(is_one(char) for char in value) for is_one in classes):
        return False
    if "/" in value[:1] or len(set(value)) < 20:  # a path; a word repeated
        return False
    try:
        base64.b64decode(value).decode("utf-8")
    except UnicodeDecodeError:
        return True
    except binascii.Error:
        return False
    return False


def _peel(data: bytes) -> bytes | None:
    """Take off one layer, or return None where there is none that can be read."""
    if data.startswith(_GZIP):
        reader = zlib.decompressobj(wbits=31)
        try:
            out = reader.decompress(data, MAX_UNPACKED + 1)
        except zlib.error:
            return None
        return out if reader.eof or len(out) > MAX_UNPACKED else None
    compact = b"".join(data.split()).rstrip(b"=").translate(_URL_SAFE)
    try:
        return base64.b64decode(compact + b"=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def _printable(text: str) -> bool:
    """Whether it reads as text: random bytes seldom do, and never for long."""
    return all(char.isprintable() or char in "\t\r\n" for char in text[:4096])
