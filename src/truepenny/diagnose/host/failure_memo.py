"""Which hosts were not reached a moment ago: that it happened again is said."""

from __future__ import annotations

from .failure import DialFailed

MEMO_SECONDS = 60.0
"""What failed longer ago may have been mended (diagnostics spec 6)."""

KEPT = 256
"""Hosts that are remembered."""


class FailureMemo:
    """The last failure of each host, by the seconds of one clock."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[tuple[str, str], float]] = {}

    def note(self, failure: DialFailed, now: float) -> tuple[str, ...]:
        """Remember a failure; return a sentence if the host failed the same way a moment ago."""
        same = (failure.hop, str(failure.hop_stage))
        before, when = self._last.pop(failure.target, (None, 0.0))
        self._last[failure.target] = (same, now)
        if len(self._last) > KEPT:
            del self._last[next(iter(self._last))]
        if before != same or now - when > MEMO_SECONDS:
            return ()
        return (
            f"it failed at the same stage {now - when:.0f} s ago: trying again changes nothing",
        )
