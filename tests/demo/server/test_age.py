from __future__ import annotations

from datetime import UTC, datetime

import pytest

from truepenny.demo.server.age import DAY, HOUR, MINUTE, YEAR, since, span


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (2 * MINUTE, "2m"),
        (5 * MINUTE + 7, "5m7s"),
        (10 * MINUTE + 59, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 59 * MINUTE, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY + 3 * HOUR, "2d3h"),
        (8 * DAY + 3 * HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR + DAY, "2y1d"),
        (9 * YEAR, "9y"),
    ],
)
def test_spans(seconds: float, written: str) -> None:
    assert span(seconds) == written


def test_an_unknown_time_is_unknown() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert since(None, now) == since("soon", now) == "<unknown>"
    assert since("2025-12-31T23:59:00Z", now) == "60s"
