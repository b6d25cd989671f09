"""The two ways to look for many literals agree with looking for each."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.text.anchor import AnchorIndex
from truepenny.text.trie import trie_pattern

_words = st.lists(
    st.text(st.sampled_from("ab_-É."), min_size=1, max_size=5), min_size=1, max_size=8
)
_text = st.text(st.sampled_from("ab_-É. "), max_size=60)


@given(_words, _text)
def test_anchors_find_every_occurrence(words: list[str], text: str) -> None:
    expected = {
        (at, word) for word in words for at in range(len(text)) if text.startswith(word, at)
    }
    found = list(AnchorIndex(words).find(text))
    assert set(found) == expected
    assert len(found) == len(expected)


@given(_words, _text)
def test_the_trie_finds_the_longest_literal_at_the_first_place(words: list[str], text: str) -> None:
    plain = re.search("|".join(re.escape(word) for word in sorted(words, key=len)[::-1]), text)
    found = trie_pattern(words).search(text)
    assert (found and found.span()) == (plain and plain.span())


def test_no_literals_or_an_empty_one_are_refused() -> None:
    for literals in ([], [""]):
        with pytest.raises(ValueError, match="literal"):
            trie_pattern(literals)
    assert list(AnchorIndex([]).find("text")) == []
