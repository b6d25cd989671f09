"""What well-known programs mean by what they do."""

from __future__ import annotations

import pytest

from truepenny.execute.habit import NOTHING_FOUND, nothing_found, stops_early


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("head", True),
        ("head -c 5", True),
        ("grep x", False),
        ("grep -q x", True),
        ("grep -iq x", True),
        ("grep -m 3 x", True),
        ("grep -m3 x", True),
        ("grep --quiet x", True),
        ("grep --max-count=1 x", True),
        ("grep --quality x", False),
        ("sed 5q", True),
        ("sed -n 1p;5q", True),
        ("sed /x/q", True),
        ("sed /x/{p;q}", True),
        ("sed q1", True),
        ("sed s/y/q/", False),
        ("sed -n 5p", False),
        ("awk NR==3{exit}", True),
        ("awk {print}", False),
        ("tail -n 1", False),
        ("sort", False),
    ],
)
def test_who_stops_reading_on_purpose(line: str, stops: bool) -> None:
    assert stops_early(line.split()) is stops


def test_nothing_stops_early_that_is_not_there() -> None:
    assert not stops_early(())
    assert nothing_found(()) == ()


def test_a_difference_is_a_finding() -> None:
    assert nothing_found(("diff", "a", "b")) == nothing_found(("cmp", "a", "b")) == ()
    assert all(0 not in codes for codes in NOTHING_FOUND.values())
