"""A lock with several places: at most `slots` holders at once, served in the order they came.

`<name>.tickets/` holds one ticket per waiter, sorted by its name; only the head may try the slot
files `<name>.slot-<n>.lock`. A dead head is removed on proof; a head that is no ticket at all is
put aside once its writer is proven gone. Source: spec/recall.md 1.8.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from truepenny.errors import LockBusy

from .atomic import storage_failed
from .clock import Clock, SystemClock
from .directories import ensure
from .lock import BUSY_REMEDY, Lock
from .lock_record import LockRecord, decode_record
from .ticket_quarantine import Quarantine

POLL = 0.2
"""Seconds between looks at the queue."""

_sequence_guard = threading.Lock()
_sequence = 0


class LeaseBusy(LockBusy):
    """No slot became free in time. `waited` is in seconds."""

    def __init__(self, path: Path, slots: int, waited: float) -> None:
        super().__init__(
            f"all {slots} slots were taken for {waited:.1f} s", where=str(path), remedy=BUSY_REMEDY
        )
        self.waited = waited


@dataclass(slots=True)
class Lease:
    """A slot that is held. `slot` counts from 1. Releasing twice is harmless."""

    slot: int
    waited: float
    _lock: Lock

    def release(self) -> bool:
        """Give the slot back; return whether it was still ours."""
        return self._lock.release()

    async def __aenter__(self) -> Lease:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


class CountingLease:
    """A counting lock named `name` below the directory `root`, which is created when used."""

    def __init__(
        self,
        root: Path,
        name: str,
        slots: int,
        *,
        purpose: str = "work",
        poll: float = POLL,
        clock: Clock | None = None,
    ) -> None:
        if slots < 1:
            raise ValueError("a lease has at least one slot")
        self.root = root
        self.name = name
        self.slots = slots
        self._purpose = purpose
        self._poll = poll
        self._clock = clock or SystemClock()
        self._tickets = root / f"{name}.tickets"

    @property
    def tickets(self) -> Path:
        """The directory of the queue."""
        return self._tickets

    async def acquire(self, wait: float = 0.0) -> Lease:
        """Queue up and take a slot, waiting at most so many seconds.

        Raises LeaseBusy when the time is over, and StorageFailed. However it ends, also cancelled,
        no ticket of ours stays; if ours cannot be removed after a slot was won, the slot is given
        back and StorageFailed raised.
        """
        begin = self._clock.monotonic()
        ticket = self._publish()
        try:
            lock, slot = await self._queue(ticket, begin, wait)
        except BaseException:
            _remove(ticket)
            raise
        try:
            _remove(ticket)
        except BaseException:
            lock.release()
            raise
        return Lease(slot, self._clock.monotonic() - begin, lock)

    def waiting(self) -> int:
        """Return how many tickets are in the queue."""
        return len(self._queue_names())

    async def _queue(self, ticket: Path, begin: float, wait: float) -> tuple[Lock, int]:
        quarantine = Quarantine(self._tickets, self._clock)
        while True:
            names = self._queue_names()
            if ticket.name not in names:
                self._place(ticket)  # somebody cleared the queue; the name keeps our rank
                continue
            if names[0] == ticket.name:
                won = self._try_slots()
                if won is not None:
                    return won
            elif self._reap(self._tickets / names[0], quarantine):
                continue
            waited = self._clock.monotonic() - begin
            if waited >= wait:
                raise LeaseBusy(self.root / self.name, self.slots, waited)
            await self._clock.sleep(min(self._poll, wait - waited))

    def _try_slots(self) -> tuple[Lock, int] | None:
        for slot in range(1, self.slots + 1):
            path = self.root / f"{self.name}.slot-{slot}.lock"
            lock = Lock(path, self._purpose, clock=self._clock)
            if lock.try_acquire():
                return lock, slot
        return None

    def _reap(self, head: Path, quarantine: Quarantine) -> bool:
        """Remove a head whose owner is dead or that is no ticket; return whether it is gone."""
        try:
            data = head.read_bytes()
        except FileNotFoundError:
            return True
        except OSError as error:
            raise storage_failed(error, head, "Reading the queue") from error
        record = decode_record(data)
        if record is None:
            return quarantine.consider(head)
        if not record.proven_dead:
            return False
        _remove(head)
        return True

    def _queue_names(self) -> list[str]:
        try:
            names = os.listdir(self._tickets)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_failed(error, self._tickets, "Reading the queue") from error
        return sorted(name for name in names if name.endswith(".ticket"))

    def _publish(self) -> Path:
        global _sequence
        ensure(self._tickets)
        # Under one guard, so that tickets of one process are published in the order of the calls.
        with _sequence_guard:
            _sequence = (_sequence + 1) % 1_000_000
            milliseconds = time.time_ns() // 1_000_000
            name = f"{milliseconds:016d}-{_sequence:06d}-{os.getpid():010d}-{uuid.uuid4()}.ticket"
            ticket = self._tickets / name
            self._place(ticket)
        return ticket

    def _place(self, ticket: Path) -> None:
        staging = ticket.with_suffix(".staging")
        try:
            staging.write_bytes(LockRecord.mine(self._purpose).encode())
            os.replace(staging, ticket)
        except OSError as error:
            with contextlib.suppress(OSError):
                staging.unlink()
            raise storage_failed(error, ticket, "Queueing") from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_failed(error, path, "Leaving the queue") from error
