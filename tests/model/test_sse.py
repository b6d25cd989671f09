from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.sse import EventTooLarge, SseEvent, SseParser


def parse(*chunks: bytes, limit: int = 1000) -> list[SseEvent]:
    parser = SseParser(limit)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.finish()


def test_reads_names_and_joined_data() -> None:
    stream = b": hi\nevent: a\ndata: 1\ndata:2\n\ndata\n\nid: 7\nretry: 5\nodd: x\n\ndata:  y\n\n"
    assert parse(stream) == [
        SseEvent("a", b"1\n2"),
        SseEvent("", b""),
        SseEvent("", b" y"),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_takes_every_line_ending_and_a_byte_order_mark(end: bytes) -> None:
    lines = [b"\xef\xbb\xbfevent: a", b"data: 1", b"", b"data: 2", b"", b""]
    assert parse(end.join(lines)) == [SseEvent("a", b"1"), SseEvent("", b"2")]


def test_an_event_name_without_data_is_forgotten() -> None:
    assert parse(b"event: a\n\ndata: 1\n\n") == [SseEvent("", b"1")]


def test_an_event_without_its_blank_line_comes_with_finish_only() -> None:
    parser = SseParser()
    assert parser.feed(b"data: [DONE]") == []
    assert parser.finish() == [SseEvent("", b"[DONE]")]
    assert parser.finish() == []


_LINES = st.lists(
    st.one_of(
        st.just(b""),
        st.binary(max_size=6).map(lambda data: b"data: " + _one_line(data)),
        st.binary(max_size=4).map(lambda data: b"event:" + _one_line(data)),
        st.binary(max_size=8).map(_one_line := lambda data: data.translate(None, b"\r\n")),
    ),
    max_size=12,
)


@given(_LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans(), st.data())
def test_any_chunking_gives_the_same_events(
    lines: list[bytes], end: bytes, marked: bool, data: st.DataObject
) -> None:
    stream = (b"\xef\xbb\xbf" if marked else b"") + end.join(lines)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8).map(sorted))
    edges = [0, *cuts, len(stream)]
    chunks = [stream[left:right] for left, right in pairwise(edges)]
    assert parse(*chunks) == parse(stream)
    assert parse(*(stream[at : at + 1] for at in range(len(stream)))) == parse(stream)


def test_a_line_without_end_is_refused() -> None:
    parser = SseParser(100)
    parser.feed(b"data: " + b"x" * 90)
    with pytest.raises(EventTooLarge):
        parser.feed(b"x" * 10)


def test_an_event_of_endless_lines_is_refused() -> None:
    parser = SseParser(100)
    with pytest.raises(EventTooLarge):
        parser.feed(b"data: 0123456789\n" * 20)


def test_long_events_in_small_pieces_cost_linear_time() -> None:
    # A quadratic parser would copy 4 TB here and never come back.
    parser = SseParser()
    data = b"x" * 2_000_000
    parser.feed(b"data: ")
    for at in range(0, len(data), 2):
        parser.feed(data[at : at + 2])
    assert parser.feed(b"\n\n") == [SseEvent("", data)]


def test_empty_data_lines_count_and_cost_no_more_each() -> None:
    begin = time.process_time()
    with pytest.raises(EventTooLarge):
        SseParser(max_event_bytes=100_000).feed(b"data:\n" * 200_000)
    assert time.process_time() - begin < 2
