from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.demo.server.protobuf import MAGIC, fields, read_review
from truepenny.demo.server.status import Refusal


def _field(number: int, data: bytes) -> bytes:
    size = len(data)
    length = b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def _review(kind: str, spec: bytes) -> bytes:
    type_meta = _field(1, b"authorization.k8s.io/v1") + _field(2, kind.encode())
    return MAGIC + _field(1, type_meta) + _field(2, _field(1, b"") + _field(2, spec))


@given(
    st.lists(st.text(max_size=200), min_size=7, max_size=7),
)
def test_reviews_round_trip(values: list[str]) -> None:
    names = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
    attributes = b"".join(_field(at + 1, v.encode()) for at, v in enumerate(values))
    read = read_review(_review("SelfSubjectAccessReview", _field(1, attributes)))
    assert read["spec"]["resourceAttributes"] == dict(zip(names, values, strict=True))


def test_rules_review_and_paths() -> None:
    rules = read_review(_review("SelfSubjectRulesReview", _field(1, b"shop")))
    assert rules["spec"] == {"namespace": "shop"}
    paths = _field(2, _field(1, b"/healthz") + _field(2, b"get"))
    read = read_review(_review("SelfSubjectAccessReview", paths))
    assert read["spec"] == {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}}


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_review(MAGIC + data)
    except Refusal as refusal:
        assert refusal.code == 400


@pytest.mark.parametrize("data", [b"\x0a\x05abc", b"\x0b", b"\x80" * 20])
def test_broken_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Refusal):
        fields(data)


def test_numbers_are_skipped() -> None:
    data = b"\x08\x96\x01" + b"\x11" + bytes(8) + b"\x1d" + bytes(4) + _field(4, b"x")
    assert fields(data) == {4: b"x"}
