from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.file import diff as module
from truepenny.workspace.file.diff import DIFF_BYTES, DIFF_LINE_CHARS, diff

lines = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=25)


def patched(before: str, text: str) -> str:
    """Apply a diff as its format says, so that it is known to be one."""
    old, out, at = before.splitlines(keepends=True), [], 0
    for line in re.split(r"(?<=\n)", text.replace("\n\\ no line break at the end", "\0"))[:-1]:
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(head[1]) - (head[2] != "0")
            out += old[at:start]
            at = start
            continue
        body = line[1:].replace("\0\n", "")
        if line[0] in " -":
            assert old[at] == body
            at += 1
        if line[0] in " +":
            out.append(body)
    return "".join(out + old[at:])


@pytest.mark.parametrize("steps", [0, 5_000_000])
@given(one=lines, two=lines, end=st.booleans(), other_end=st.booleans())
def test_a_diff_turns_the_one_into_the_other(
    steps: int, one: list[str], two: list[str], end: bool, other_end: bool
) -> None:
    before = "\n".join(one) + ("\n" if end and one else "")
    after = "\n".join(two) + ("\n" if other_end and two else "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMPARE_STEPS", steps)
        found = diff(before, after)
    assert patched(before, found.text) == after
    assert (found.first_line is None) == (before == after)


def test_a_diff_is_bounded_and_says_so() -> None:
    long = diff("a\n", "b" * 2000 + "\n")
    assert f"{2000 - DIFF_LINE_CHARS} characters more" in long.text
    many = diff("", "".join(f"{'x' * 400}{n}\n" for n in range(200)))
    assert many.cut
    assert "lines of the diff are left out" in many.text
    assert len(many.text) < DIFF_BYTES + 100
