"""Say what the beginning of some bytes looks like: text, another encoding, or binary."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

SAMPLE = 8192
"""Bytes that are looked at: more does not change the answer for the formats we name."""

MAX_CONTROL_SHARE = 0.1
"""Above this share of control bytes the sample is called binary; colourful terminal output has
about one escape byte in twenty."""

Kind = Literal["text", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "binary"]

# The longer marks first: the UTF-32 one begins with the UTF-16 one.
_MARKS: tuple[tuple[bytes, Kind], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_FORMATS = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"\x7fELF", "elf"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"%PDF-", "pdf"),
    (b"SQLite format 3\x00", "sqlite"),
)

_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b\b") + b"\x7f"


@dataclass(frozen=True, slots=True)
class Sniffed:
    """`kind`, the `format` where its magic number is known, and the offset of the first NUL."""

    kind: Kind
    format: str = ""
    first_nul: int | None = None


def sniff(data: bytes) -> Sniffed:
    """Judge at most the first 8192 bytes. Empty input is text."""
    sample = data[:SAMPLE]
    nul = sample.find(b"\0")
    first_nul = None if nul < 0 else nul
    name = next((name for magic, name in _FORMATS if sample.startswith(magic)), "")
    if name:
        return Sniffed("binary", name, first_nul)
    for mark, kind in _MARKS:
        if sample.startswith(mark):
            return Sniffed(kind, "", first_nul)
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if first_nul is not None or controls > len(sample) * MAX_CONTROL_SHARE:
        return Sniffed("binary", "", first_nul)
    return Sniffed("text", "", None)
