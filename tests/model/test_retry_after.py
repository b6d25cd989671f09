from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.retry_after import MAX_SECONDS, retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "3"}, "", 3),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, "", 30),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:30 GMT"}, "", None),
        ({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25),
        ({"retry-after": "0"}, "", None),
        ({"retry-after": "0"}, "Please try again in 1.2s.", 1.2),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "999999"}, "", MAX_SECONDS),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "0"}, "", 360),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "9"}, "", None),
        (
            {
                "anthropic-ratelimit-tokens-reset": "2026-01-01T00:01:00Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-01-01T00:02:00Z",
                "anthropic-ratelimit-requests-remaining": "5",
            },
            "",
            60,
        ),
        ({"x-ratelimit-reset": "1767225660000", "x-ratelimit-remaining": "0"}, "", 60),
        ({}, "Rate limit reached. Please try again in 6m0s. Visit", 360),
        ({}, "Please try again in 20ms.", 0.02),
        ({}, "Retry after 20 seconds", 20),
        ({}, 'RetryInfo "retryDelay": "34s"', 34),
        ({}, "wait 2 minutes", 120),
        ({}, "used 20 million tokens", None),
    ],
)
def test_reads_every_way_of_saying_when(
    headers: dict[str, str], message: str, seconds: float | None
) -> None:
    got = retry_after(headers, message, NOW)
    assert got == (None if seconds is None else pytest.approx(seconds))


@given(st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-reset"]), st.text()), st.text())
def test_never_raises_and_stays_in_bounds(headers: dict[str, str], message: str) -> None:
    got = retry_after(headers, message, NOW)
    assert got is None or 0 < got <= MAX_SECONDS


@pytest.mark.parametrize(
    "value",
    [
        "Wed, 21 Oct 99999999999999 07:28:00 GMT",
        "0001-01-01T00:00:00+23:59",
        "1" * 60_000 + "x",
        "1s" * 30_000,
        "nan",
    ],
)
def test_an_absurd_value_is_no_hint_and_costs_nothing(value: str) -> None:
    begin = time.process_time()
    assert retry_after({"retry-after": value}, "", NOW) is None
    assert time.process_time() - begin < 1
