"""What the beginning of some bytes looks like."""

from __future__ import annotations

import gzip

import pytest

from truepenny.text.sniff import sniff


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "text"),
        ("grüße 😀\n".encode(), "text"),
        (b"\x1b[31mred\x1b[0m\n", "text"),
        ("hi".encode("utf-16"), "utf-16-le"),
        (b"\xfe\xff\0h\0i", "utf-16-be"),
        ("hi".encode("utf-32"), "utf-32-le"),
        (b"abc\0def", "binary"),
        (bytes(range(1, 9)) * 20, "binary"),
    ],
)
def test_kind(data: bytes, kind: str) -> None:
    assert sniff(data).kind == kind


def test_known_formats_and_the_first_nul_are_named() -> None:
    assert sniff(gzip.compress(b"x")).format == "gzip"
    assert sniff(b"\x7fELF\x02").format == "elf"
    assert sniff(b"abc\0").first_nul == 3
