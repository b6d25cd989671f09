"""Which programs the end of a line runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.execute.stage import MOST_BYTES, stages


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a", (("a",),)),
        ("a 'x y' | head -n 1", (("a", "x y"), ("head", "-n", "1"))),
        ("X=1 /usr/bin/grep -q x f |& sed -n 1q 2>/dev/null", (("grep", "-q", "x", "f"),
                                                                 ("sed", "-n", "1q"))),
        ("a | b # note", (("a",), ("b",))),
        ("a; b | c", (("b",), ("c",))),
        ("a\nb | c\n", (("b",), ("c",))),
        ("a && b | c", (("b",), ("c",))),
        ("(a; b) | { c; }", ((), ())),
        ("a | while read x; do b; done", (("a",), ())),
        ("[ a = b ]", (("[",),)),
        ("nohup command grep x", (("grep", "x"),)),
        ('"grep" x', (("grep", "x"),)),
        ("a | b &", None),
        ("! a | b", None),
        ("if a; then b; fi", None),
        ("(a | b)", None),
        ("a | )", None),
        ("cat <<X | b\nunfinished", None),
        ("", None),
        ("# nothing", None),
        ("a" * (MOST_BYTES + 1), None),
    ],
)  # fmt: skip
def test_the_stages_of_a_line(line: str, found: tuple[tuple[str, ...], ...] | None) -> None:
    assert stages(line) == found


@given(st.text(max_size=60))
def test_any_text_has_an_answer(line: str) -> None:
    found = stages(line)
    assert found is None or len(found) >= 1
