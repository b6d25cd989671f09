"""Spans of time in words, as people say them: two places at most."""

from __future__ import annotations

from datetime import datetime, timedelta

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def span(length: timedelta) -> str:
    """Write a span as `9d`, `3h12m` or `40s`; what is not positive is `0s`."""
    left = max(int(length.total_seconds()), 0)
    for place, (unit, size) in enumerate(_UNITS):
        if left >= size:
            rest, (smaller, step) = left % size, _UNITS[min(place + 1, len(_UNITS) - 1)]
            more = f"{rest // step}{smaller}" if rest // step and step < size else ""
            return f"{left // size}{unit}{more}"
    return "0s"


def since(then: datetime | None, now: datetime) -> str:
    """Write how long ago something was; `an unknown time` where it bears none."""
    return "an unknown time" if then is None else span(now - then)
