"""The one clock. Code that needs time takes a `Clock`; tests pass a `ManualClock`."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

import anyio


class Clock(Protocol):
    """Wall time, elapsed time and waiting."""

    def now(self) -> datetime:
        """Return the wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards; only differences have a meaning."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking other tasks; returns at once for zero or less."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(max(seconds, 0))


class ManualClock:
    """A clock that a test moves by hand; `sleep` moves it and yields once."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move forward; negative seconds raise ValueError."""
        if seconds < 0:
            raise ValueError("a clock is only moved forward")
        self._now += timedelta(seconds=seconds)
        self._elapsed += seconds

    async def sleep(self, seconds: float) -> None:
        self.advance(max(seconds, 0))
        await anyio.lowlevel.checkpoint()


def timestamp(moment: datetime) -> str:
    """Write a moment as RFC 3339 in UTC with milliseconds, the one form in every file we write."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
