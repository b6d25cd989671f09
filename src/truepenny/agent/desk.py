"""Where turns are claimed and aborted: one turn at a time, and no abort hits the wrong one."""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from typing import TypeVar

from truepenny.errors import TruepennyError
from truepenny.system.clock import Clock

from .turn import Turn

_V = TypeVar("_V")

LATCH_SECONDS = 180.0
"""How long an abort waits for its turn to start (diagnostics spec 8)."""

REMEMBERED = 64
"""Ended turns and waiting aborts that are remembered; older ones can no longer be in flight."""


class TurnBusy(TruepennyError):
    """A turn is in flight in this session; a second prompt has to wait or to steer."""


class Abort(StrEnum):
    """The answer to an abort."""

    STOPPED = "stopped"
    """The turn has ended."""
    PENDING = "pending"
    """The turn was told to stop and has not ended within the time to wait: not confirmed."""
    ALREADY_STOPPED = "already_stopped"
    ARMED = "armed"
    """No such turn has started yet; if it starts in time, it ends at once."""
    NOTHING_RUNNING = "nothing_running"


class TurnDesk:
    """Knows the live turn of a session, those that ended, and aborts that came early."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._live: Turn | None = None
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._latches: OrderedDict[str, float] = OrderedDict()

    @property
    def live(self) -> Turn | None:
        """The turn that runs now."""
        return self._live

    def begin(self, turn: Turn) -> None:
        """Make `turn` the live one. Raises TurnBusy if there is one, or if its id was used.

        An abort that named this turn before it started is consumed here.
        """
        if self._live is not None:
            raise TurnBusy(
                f"turn {self._live.id} is in flight",
                remedy="Wait for its end, steer it or abort it.",
            )
        if turn.id in self._ended:
            raise TurnBusy(f"turn {turn.id} has ended; a turn id names one turn")
        self._live = turn
        armed = self._latches.pop(turn.id, None)
        if armed is not None and self._clock.monotonic() - armed <= LATCH_SECONDS:
            turn.abort()

    def end(self, turn: Turn) -> None:
        """Take note that the live turn has ended, and tell those who wait for that."""
        self._live = None
        turn.finished.set()
        _remember(self._ended, turn.id, None)

    def abort(self, turn_id: str | None) -> tuple[Abort, Turn | None]:
        """Abort the named turn, or with None whatever runs; return the turn if one was hit."""
        live = self._live
        if live is not None and turn_id in (None, live.id):
            live.abort()
            return Abort.PENDING, live
        if turn_id is None:
            return Abort.NOTHING_RUNNING, None
        if turn_id in self._ended:
            return Abort.ALREADY_STOPPED, None
        _remember(self._latches, turn_id, self._clock.monotonic())
        return Abort.ARMED, None


def _remember(table: OrderedDict[str, _V], key: str, value: _V) -> None:
    table[key] = value
    table.move_to_end(key)
    while len(table) > REMEMBERED:
        table.popitem(last=False)
