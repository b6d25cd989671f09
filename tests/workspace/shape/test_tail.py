"""The tail of a text in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.shape.tail import Tail


@given(st.lists(st.text(st.sampled_from("ab€\n"), max_size=90), max_size=30))
def test_a_tail_is_a_true_end_within_its_bytes(pieces: list[str]) -> None:
    tail, whole = Tail(100), "".join(pieces)
    for piece in pieces:
        tail.feed(piece)
    assert whole.endswith(tail.text)
    assert len(tail.text.encode()) <= 100
    assert tail.total == len(whole.encode())
    assert tail.lines == len(whole.splitlines())
    if tail.total <= 100:
        assert tail.text == whole
