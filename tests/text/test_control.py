"""Control characters: terminal sequences go, hidden characters are shown, chunks do not matter."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from truepenny.text.control import ControlStripper, strip_control


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("a\x00b\x08c\x7fd\x85e", "abcde"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("x\U000e0041y", "x\\U000e0041y"),
        ("pass\x1b[0mword", "password"),
        ("end\x1b[", "end["),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_strip(raw: str, clean: str) -> None:
    assert strip_control(raw) == clean


@given(
    st.lists(
        st.sampled_from(
            ["\x1b", "[", "]", "3", "m", "\x07", "\\", "\r", "\n", "a", "\u202e", "\x9b"]
        ),
        max_size=30,
    ).map("".join),
    st.lists(st.integers(0, 40)),
)
@example("\r\x1b[0m\n", [1, 5])
@example("\r\r\n", [1, 2])
def test_chunks_do_not_matter(text: str, places: list[int]) -> None:
    stripper = ControlStripper()
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    parts = [stripper.feed(text[a:b]) for a, b in pairwise(edges)]
    got = "".join(parts) + stripper.finish()
    assert got == strip_control(text)
    assert not set(got) & {"\x1b", "\x07", "\x9b", "\r", "\u202e"}


def test_an_unended_string_is_not_held_for_ever() -> None:
    stripper = ControlStripper()
    out = stripper.feed("\x1b]" + "x" * 10_000) + stripper.finish()
    assert out.endswith("x" * 5000)


@pytest.mark.parametrize("size", [900, 2900, 3100, 3990, 4010, 4090, 4100, 9000])
@pytest.mark.parametrize(("begin", "end"), [("\x1b[1", "m"), ("\x1b ", "0"), ("\x9b1", "m")])
def test_a_long_sequence_is_judged_alike_whole_and_in_pieces(
    size: int, begin: str, end: str
) -> None:
    text = begin + begin[-1] * size + end + "x"
    stripper = ControlStripper()
    got = "".join(map(stripper.feed, text)) + stripper.finish()
    assert got == strip_control(text)
