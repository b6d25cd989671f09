"""Decoding: no character is split, nothing is invented, bad bytes keep their place."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from truepenny.text.decode import MAX_BAD_DATA, MAX_BAD_RUNS, BadBytes, Decoder, decode


def _cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.integers(0, 10_000)))
def test_valid_text_comes_back_whatever_the_chunks(text: str, places: list[int]) -> None:
    decoder = Decoder()
    got = "".join(decoder.feed(part) for part in _cut(text.encode(), places)) + decoder.finish()
    assert got == text
    assert decoder.bad == []
    assert decoder.bad_count == 0


@given(st.binary(max_size=300), st.lists(st.integers(0, 10_000)))
@example(b"\xf0\x9f\x98", [1, 2])
@example("a\ufffdb".encode(), [2])
@example(b"\xed\xa0\x80\xff\xff", [1, 2, 3, 4])
def test_any_bytes_give_the_same_answer_in_any_chunks(data: bytes, places: list[int]) -> None:
    whole, pieces = Decoder(), Decoder()
    expected = whole.feed(data) + whole.finish()
    got = "".join(pieces.feed(part) for part in _cut(data, places)) + pieces.finish()
    assert got == expected
    assert (pieces.bad, pieces.bad_count, pieces.bom) == (whole.bad, whole.bad_count, whole.bom)
    assert got.encode("utf-8").decode("utf-8") == got
    assert got.count("\ufffd") == data.decode("utf-8", "ignore").count("\ufffd")


@given(st.binary(max_size=200))
def test_bad_runs_name_the_bytes_at_their_offset(data: bytes) -> None:
    decoder = Decoder()
    decoder.feed(data)
    decoder.finish()
    for bad in decoder.bad:
        assert data[bad.offset : bad.offset + min(bad.length, MAX_BAD_DATA)] == bad.data
    if len(decoder.bad) < MAX_BAD_RUNS:
        assert sum(bad.length for bad in decoder.bad) == decoder.bad_count


def test_a_tail_that_begins_inside_a_character_is_shown_as_bytes() -> None:
    text, bad = decode("é!".encode()[1:])
    assert text == "\\xa9!"
    assert bad == (BadBytes(0, b"\xa9", 1),)


def test_later_runs_are_counted_not_kept() -> None:
    decoder = Decoder()
    decoder.feed(b"\xffa" * 100)
    assert len(decoder.bad) == MAX_BAD_RUNS
    assert decoder.bad_count == 100


def test_a_byte_order_mark_is_a_fact_and_stays() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\xef\xbb") + decoder.feed(b"\xbfhi") == "\ufeffhi"
    assert decoder.bom
