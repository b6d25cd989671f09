"""Ages as the API server prints them in tables: `45s`, `5m10s`, `3h4m`, `12d`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from truepenny.demo.server.value import moment

UNKNOWN = "<unknown>"

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 365 * DAY


def span(seconds: float) -> str:
    """Write a duration: two units while young, one when the second no longer matters."""
    total = int(seconds)
    if total < -1:
        return "<invalid>"
    if total < 2 * MINUTE:
        return f"{max(total, 0)}s"
    if total < 10 * MINUTE:
        return _pair(total, MINUTE, "m", 1, "s")
    if total < 3 * HOUR:
        return f"{total // MINUTE}m"
    if total < 8 * HOUR:
        return _pair(total, HOUR, "h", MINUTE, "m")
    if total < 2 * DAY:
        return f"{total // HOUR}h"
    if total < 8 * DAY:
        return _pair(total, DAY, "d", HOUR, "h")
    if total < 2 * YEAR:
        return f"{total // DAY}d"
    if total < 8 * YEAR:
        return _pair(total, YEAR, "y", DAY, "d")
    return f"{total // YEAR}y"


def _pair(total: int, big: int, big_unit: str, small: int, small_unit: str) -> str:
    whole, rest = divmod(total, big)
    part = rest // small
    return f"{whole}{big_unit}{part}{small_unit}" if part else f"{whole}{big_unit}"


def since(written: Any, now: datetime) -> str:
    """Write how long ago an RFC 3339 time was; `<unknown>` where there is none."""
    then = moment(written)
    return UNKNOWN if then is None else span((now - then).total_seconds())
