"""A lock that is a file, held by a process that can be proven alive or dead; never by its age.

The name appears whole by a hard link. A lock whose owner is proven dead is taken over under a
second lock, `<lock>.recovery`, after comparing it byte for byte once more. A dead recovery lock is
reclaimed in turn through claims, one per predecessor. Source: spec/recall.md 1.8.
"""

from __future__ import annotations

import random
from pathlib import Path
from types import TracebackType

from truepenny.errors import LockBusy, StorageFailed

from .atomic import storage_failed
from .clock import Clock, SystemClock
from .lock_record import LockRecord, decode_record, publish_record, read_bytes
from .lock_recovery import recover
from .lock_sweep import sweep_candidates

FIRST_DELAY = 0.025
"""Seconds before the second try."""

LAST_DELAY = 1.0
"""Seconds between tries at most."""

MIN_DELAY = 0.04
"""Seconds that every later pause has at least: at most 25 tries a second for long waits."""

GROWTH = 1.5
"""Factor from one pause to the next, before up to a fifth of jitter."""

BUSY_REMEDY = "Wait for it to end, or stop that process."


class LockHeld(LockBusy):
    """The wait for a lock is over. `owner` is who holds it, None where the record is unreadable."""

    def __init__(self, path: Path, owner: LockRecord | None, waited: float) -> None:
        who = owner.describe() if owner else "an owner whose record cannot be read"
        super().__init__(f"held by {who}", where=str(path), remedy=BUSY_REMEDY)
        self.owner = owner
        self.waited = waited


class Lock:
    """One lock file. An object takes and gives back the lock any number of times, in turn.

    `purpose` says in a word what it is held for. Two objects of one process exclude each other as
    two processes do. As an async context it waits `wait` seconds.
    """

    def __init__(
        self,
        path: Path,
        purpose: str = "work",
        *,
        run_id: str = "",
        wait: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.path = path
        self.purpose = purpose
        self._run_id = run_id
        self._wait = wait
        self._clock = clock or SystemClock()
        self._nonce = ""

    @property
    def held(self) -> bool:
        """Whether this object took the lock and has not given it back."""
        return bool(self._nonce)

    def owner(self) -> LockRecord | None:
        """Return who holds it now; None where nobody does or the record is unreadable."""
        data = read_bytes(self.path)
        return decode_record(data) if data is not None else None

    async def acquire(self, wait: float | None = None) -> None:
        """Take the lock, waiting at most so many seconds (default: the object's `wait`).

        Raises LockHeld when the time is over, LockBlocked where a recovery cannot go on, and
        StorageFailed. Cancelling stops the wait and leaves nothing behind.
        """
        limit = self._wait if wait is None else wait
        begin = self._clock.monotonic()
        pause = FIRST_DELAY
        while True:
            if self.try_acquire():
                return
            waited = self._clock.monotonic() - begin
            if waited >= limit:
                raise LockHeld(self.path, self.owner(), waited)
            # Jitter keeps contenders from coming back together.
            await self._clock.sleep(min(pause * random.uniform(1.0, 1.2), limit - waited))
            pause = min(max(pause * GROWTH, MIN_DELAY), LAST_DELAY)

    def try_acquire(self) -> bool:
        """Take the lock without waiting; a lock whose owner is dead is recovered first."""
        if self._nonce:
            raise RuntimeError(f"{self.path} is already held by this object")
        sweep_candidates(self.path.parent)
        record = LockRecord.mine(self.purpose, self._run_id)
        for _ in range(_MAX_RACES):
            if publish_record(self.path, record):
                self._nonce = record.nonce
                return True
            data = read_bytes(self.path)
            if data is None:
                continue  # it vanished between the two looks
            owner = decode_record(data)
            if owner is None or not owner.proven_dead:
                return False
            if not recover(self.path, data, self.purpose):
                return False
        return False

    def release(self) -> bool:
        """Give the lock back; return whether it was still ours and is removed.

        Releasing twice is harmless. Raises StorageFailed where the file cannot be removed.
        """
        nonce, self._nonce = self._nonce, ""
        if not nonce:
            return False
        data = read_bytes(self.path)
        owner = decode_record(data) if data is not None else None
        if owner is None or owner.nonce != nonce:
            return False
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise storage_failed(error, self.path, "Giving back the lock") from error
        return True

    async def __aenter__(self) -> Lock:
        await self.acquire()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.release()
        except StorageFailed:
            if error is None:
                raise  # else the first failure is the one to report


_MAX_RACES = 64
"""Tries in one look: each means that somebody took or gave the lock at that very moment."""
