from __future__ import annotations

from datetime import timedelta

import pytest

from truepenny.diagnose.triage.age import since, span

from .world import NOW


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (-5, "0s"),
        (0, "0s"),
        (40, "40s"),
        (60, "1m"),
        (3720, "1h2m"),
        (777_600, "9d"),
        (93_600, "1d2h"),
    ],
)
def test_a_span_has_two_places_at_most(seconds: int, written: str) -> None:
    assert span(timedelta(seconds=seconds)) == written


def test_what_bears_no_time_is_an_unknown_time_ago() -> None:
    assert since(None, NOW) == "an unknown time"
    assert since(NOW - timedelta(minutes=2), NOW) == "2m"
