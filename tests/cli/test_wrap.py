from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.cli.terminal import cells
from truepenny.cli.wrap import Wrapped


def shown(text: str, columns: int = 40, *, colour: bool = False, piece: int = 0) -> str:
    wrapped = Wrapped(columns, colour=colour)
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)] if piece else [text]
    return "".join([*map(wrapped.feed, pieces), wrapped.finish()])


def test_lines_break_between_words_and_items_hang() -> None:
    text = (
        "- one two three four five six seven eight nine\n  12. one two three four five six seven\n"
    )
    assert shown(text, 30).splitlines() == [
        "- one two three four five six",
        "  seven eight nine",
        "  12. one two three four five",
        "      six seven",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "see `kubectl get pods -n shop -o json` and go on from there",
        "```\none two three four five six seven eight nine ten\n```\n",
        "| one two three four | five six seven eight nine |",
        "see https://example.test/one/two/three/four/five/six/seven/eight",
    ],
)
def test_what_is_copied_stays_in_one_piece(text: str) -> None:
    unbroken = shown(text, 40).splitlines()
    for part in text.split("`")[1::2] or text.split(" ")[-1:]:
        assert any(piece in line for line in unbroken for piece in [part.strip("\n")])


@pytest.mark.parametrize(
    ("text", "styled"),
    [
        ("**a b** c\n", "\x1b[1ma b\x1b[22m c\n"),
        ("- **Root:** x", "- \x1b[1mRoot:\x1b[22m x"),
        ("**end**", "\x1b[1mend\x1b[22m"),
        ("**`x`**.", "\x1b[1m`x`\x1b[22m."),
        # No pair in its line, or no passage: nothing is taken away.
        ("**/*.yaml and more\nnext**\n", "**/*.yaml and more\nnext**\n"),
        ("2 ** 3 ** 4", "2 ** 3 ** 4"),
        ("`**a**` and *b*", "`**a**` and *b*"),
        ("```\n**a**\n```\n", "```\n**a**\n```\n"),
        ("***a***", "***a***"),
    ],
)
def test_a_pair_of_stars_is_bold_and_all_else_stays(text: str, styled: str) -> None:
    assert shown(text, colour=True) == styled
    assert shown(text) == text


LETTERS = st.text("ab c*`\n|->1.字")


@given(LETTERS)
def test_without_colour_no_character_but_space_is_lost_or_added(text: str) -> None:
    assert shown(text, 12).split() == text.split()


@given(LETTERS, st.integers(1, 4), st.booleans())
def test_the_pieces_that_it_comes_in_do_not_matter(text: str, piece: int, colour: bool) -> None:
    assert shown(text, 12, colour=colour, piece=piece) == shown(text, 12, colour=colour)


@given(st.lists(st.text("ab字", min_size=1, max_size=6), min_size=1))
def test_no_line_is_wider_than_the_terminal(words: list[str]) -> None:
    assert all(cells(line) <= 20 for line in shown(" ".join(words), 20).splitlines())
