"""How long a provider asks us to wait, in whatever way it says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 24 * 3600.0
"""A longer hint is no retry but another day (spec/diagnostics.md 8)."""

_LONGEST = 64
"""Characters of a header that says when; searching a longer one costs time and finds nothing."""

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_WORDS = re.compile(
    r"(?:(?:try again|retry|retrying|wait)[^.\d]{0,30}?|\"?retry_?delay\"?:\s*\"?)"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)(?![a-z])\s*)+)",
    re.IGNORECASE,
)
_LONG_UNIT = re.compile(r"\s*(seconds?|secs?|minutes?|mins?|hours?)(?![a-z])", re.IGNORECASE)


def retry_after(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Return seconds to wait, at most `MAX_SECONDS`; None when the provider gave no usable hint.

    `headers` have lower-case names. Order: `retry-after-ms`, `retry-after` (seconds or an HTTP
    date), the reset time of a rate-limit window that is used up, words in the message. Zero and
    times in the past are no hint.
    """
    hints = (
        _milliseconds(headers.get("retry-after-ms", "")),
        _moment(headers.get("retry-after", ""), now),
        _windows(headers, now),
        _words(message),
    )
    for seconds in hints:
        if seconds is not None and seconds > 0:
            return min(seconds, MAX_SECONDS)
    return None


def _milliseconds(value: str) -> float | None:
    try:
        return float(value) / 1000
    except ValueError:
        return None


def _moment(value: str, now: datetime) -> float | None:
    """Read seconds, a span like `6m0s`, an RFC 3339 time, an HTTP date or a Unix time."""
    value = value.strip()
    if not value or len(value) > _LONGEST:
        return None
    try:
        number = float(value)
    except ValueError:
        pass
    else:
        if number != number or number in (float("inf"), float("-inf")):
            return None
        if number > 1e11:  # Unix time in milliseconds
            return number / 1000 - now.timestamp()
        return number - now.timestamp() if number > 1e9 else number
    if _SPAN.sub("", value).strip() == "":
        return _span(value)
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(value)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
    return None


def _span(value: str) -> float:
    return sum(float(number) * _UNIT[unit.lower()] for number, unit in _SPAN.findall(value))


def _windows(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the latest reset among the windows with nothing left.

    Names: `x-ratelimit-reset-tokens` beside `x-ratelimit-remaining-tokens` (OpenAI),
    `anthropic-ratelimit-tokens-reset` beside `-remaining` (Anthropic), `x-ratelimit-reset`.
    """
    waits: list[float] = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        left = headers.get(name.replace("reset", "remaining"), "")
        wait = _moment(value, now) if left.strip() in ("0", "0.0") else None
        if wait is not None:
            waits.append(wait)
    return max(waits, default=None)


def _words(message: str) -> float | None:
    found = _WORDS.search(message)
    if not found:
        return None
    return _span(_LONG_UNIT.sub(lambda unit: unit.group(1)[0].lower() + " ", found.group(1)))
