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
        ("x=1; [ -f y ]; cd z\na | b", (("a",), ("b",))),
        ("cd x >/dev/null && a | b", (("a",), ("b",))),
        # Which of them ran, or whether the last did, the text does not say.
        ("a && b", None),
        ("a || b", None),
        ("a | b && c | d", None),
        ("a && b | c || d | e", None),
        ("{ a | b; } && c | d", None),
        ("a | b; c", None),
        ("set -e; a; b", None),
        ("if a; then exit 1; fi; b", None),
        ("a || exit 1; b", None),
        ("exec a | b; c", None),
        ("trap x ERR; a | b", None),
        ("set -euo pipefail; a | b", (("a",), ("b",))),
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
