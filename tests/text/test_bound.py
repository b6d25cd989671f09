"""Bounding: within the budget, true ends, exact counts, no matter how the text came."""

from __future__ import annotations

import re
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from truepenny.text.bound import HeadTail, Limits, bound, utf8_length

_MARKER = re.compile(r"\[\.\.\. (\d+) bytes missing here; (\d+) lines not shown whole \.\.\.\]\n")

texts = st.one_of(
    st.text(st.sampled_from("ab\n€😀é"), max_size=400),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
)
limits = st.builds(
    Limits,
    bytes=st.none() | st.integers(0, 300),
    chars=st.none() | st.integers(0, 300),
    lines=st.none() | st.integers(0, 12),
)


def _lines(text: str) -> int:
    return text.count("\n") + bool(text and not text.endswith("\n"))


@given(texts, limits)
@example("x" * 400, Limits(bytes=5))
@example("x\n" * 400, Limits(lines=1))
@example("😀" * 100, Limits(bytes=150))
def test_never_over_budget_and_never_wrong(text: str, limit: Limits) -> None:
    got = bound(text, limit)
    assert limit.bytes is None or len(got.text.encode()) <= limit.bytes
    assert limit.chars is None or len(got.text) <= limit.chars
    assert limit.lines is None or _lines(got.text) <= limit.lines
    assert got.total_bytes == len(text.encode())
    assert got.total_chars == len(text)
    assert got.total_lines == _lines(text)
    assert got.text.count("\ufffd") <= text.count("\ufffd")
    if not got.cut:
        assert got.text == text
        assert (got.kept_bytes, got.kept_lines, got.kept_chars) == (
            got.total_bytes,
            got.total_lines,
            got.total_chars,
        )


@given(texts, limits)
def test_a_cut_shows_a_true_head_and_tail_and_counts_the_rest(text: str, limit: Limits) -> None:
    got = bound(text, limit)
    marker = None if not got.cut else list(_MARKER.finditer(got.text))
    if not marker:
        return
    found = marker[0]
    head, tail = got.text[: found.start()], got.text[found.end() :]
    if not text.startswith(head):
        head = head.removesuffix("\n")  # the joint after a head that ends inside a line
    assert text.startswith(head)
    assert text.endswith(tail)
    assert got.kept_bytes == len(head.encode()) + len(tail.encode())
    assert int(found.group(1)) == got.total_bytes - got.kept_bytes > 0
    assert int(found.group(2)) == got.total_lines - got.kept_lines


@given(texts, limits, st.lists(st.integers(0, 400)))
def test_pieces_give_what_the_whole_gives(text: str, limit: Limits, places: list[int]) -> None:
    keeper = HeadTail(limit)
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    for a, b in pairwise(edges):
        keeper.feed(text[a:b])
    assert keeper.finish() == bound(text, limit)


@given(texts, st.integers(0, 200), st.integers(0, 200), st.integers(1, 50))
def test_a_tighter_bound_at_the_end_is_the_one_from_the_start(
    text: str, one: int, other: int, step: int
) -> None:
    tight, wide = Limits(bytes=min(one, other)), Limits(bytes=max(one, other))
    keeper = HeadTail(wide)
    for at in range(0, len(text), step):
        keeper.feed(text[at : at + step])
    assert keeper.finish(tight) == bound(text, tight)


def test_many_small_pieces_beyond_the_slack() -> None:
    text = "".join(f"line {number}\n" for number in range(5000))
    for limit in (Limits(bytes=500), Limits(lines=10), Limits(chars=300, lines=4)):
        keeper = HeadTail(limit)
        for at in range(0, len(text), 7):
            keeper.feed(text[at : at + 7])
        assert keeper.finish() == bound(text, limit)


def test_whole_lines_are_preferred() -> None:
    got = bound("".join(f"line {number}\n" for number in range(1000)), Limits(bytes=400))
    for line in got.text.splitlines():
        assert line.startswith(("line ", "[... "))
    assert got.text.endswith("line 999\n")


def test_one_giant_line_is_cut_inside() -> None:
    got = bound("a" * 10_000, Limits(bytes=1000))
    assert got.kept_bytes > 800
    assert got.kept_lines == 0
    assert got.total_lines == 1


def test_lone_surrogates_do_not_crash() -> None:
    assert utf8_length("\ud800") == 3
    assert bound("\ud800" * 200, Limits(bytes=150)).cut


def test_memory_stays_flat() -> None:
    keeper = HeadTail(Limits(bytes=32_768))
    chunk = "x" * 99 + "\n"
    tracemalloc.start()
    for _ in range(20_000):
        keeper.feed(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert keeper.finish().total_bytes == 2_000_000
    assert peak < 400_000


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        Limits(bytes=-1)
