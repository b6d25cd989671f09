"""One child of ours that leads its own process group: seeing its end, and ending all of it.

What came of it is found where it is (spec/field.md B1): in its group and session, among the
orphans that the kernel hands us, and in the control group of the run where there is one.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import anyio
import anyio.to_thread

from truepenny.sandbox.level import Level
from truepenny.system.clock import Clock, SystemClock
from truepenny.system.descendants import (
    BURY_SECONDS,
    Descendants,
    adopt_orphans,
    hold_start,
    is_namespace_init,
    release_start,
    send,
)
from truepenny.system.process_group import KILL_WAIT, LAST_POLL, ProcessGroup
from truepenny.system.process_identity import ProcessStat, read_stat

from .ending import ExitFact
from .guard import GUARD
from .start import Started

FIRST_LOOK = 0.0005
"""Seconds between the first two looks at what is ending. Most often that is the first process of
bubblewrap's namespace, which needs a millisecond, and every call waits for it; each pause is twice
the one before."""

GRACE_SECONDS = 2.0
"""How long a group has between the request to end and the kill."""


class Child:
    """One started process with all that comes of it. `status` is empty until its end was seen.

    `by_us` says that the process itself lived when it was asked to end. `leftovers` counts the
    processes that it left behind when it ended by itself; None where they end with its namespace
    before anybody can look.
    """

    def __init__(self, started: Started) -> None:
        self._popen = started.popen
        self._pid = started.pid
        self._confinement = started.confinement
        self._task_group = None if started.confinement is None else started.confinement.group
        folders = () if self._task_group is None else self._task_group.directories
        GUARD.hold(self._pid, folders, started.announced)
        hold_start(self._pid)
        adopts = adopt_orphans()
        self._descendants = Descendants(self._pid, started.cookie) if adopts else None
        self._group = None if adopts else ProcessGroup(self._pid)
        self._reaped = False
        self.status = ExitFact()
        self.by_us = False
        self.leftovers: int | None = 0

    async def ended(self) -> None:
        """Return once the process itself has ended, whoever still holds its pipes."""
        try:
            descriptor = os.pidfd_open(self._pid)
        except (AttributeError, OSError):
            # Not Linux, or a kernel without it: a thread waits and leaves the status in place.
            wait = partial(os.waitid, os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
            with suppress(ChildProcessError):  # It is gone, and somebody else took its status.
                await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)
            return
        try:
            await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)

    async def end(self, clock: Clock | None = None) -> bool:
        """End the process and all of its own, or what it left behind when it ended by itself.

        Returns False when something could not even be killed. Safe to call again. Shield it: half
        an end leaves processes behind.
        """
        ticker = clock or SystemClock()
        lives = not self._observe()
        left = self.living()
        self.by_us = self.by_us or lives
        if not self.by_us:
            self._count(left)
        everything = True
        if left or lives:
            await self._end(left, ticker)
            everything = not self.living() and self._observe()
        await self._bury(ticker)
        # What even a kill did not end may do so once we are gone.
        if everything:
            GUARD.release(self._pid)
        return everything

    def living(self) -> Mapping[int, ProcessStat]:
        """Return the living processes of the run, the started one not counted."""
        found: dict[int, ProcessStat] = {}
        if self._descendants is not None:
            found = self._descendants.living()
        elif self._group is not None:
            found = _stats(self._group.members())
        if self._task_group is not None:
            found |= _stats(self._task_group.members())
        found.pop(self._pid, None)
        return found

    def _count(self, left: Mapping[int, ProcessStat]) -> None:
        """Count what the program left. Bubblewrap ends a moment before the first process of its
        namespace does, and that one is ours: it is waited for and not told of. What is seen beside
        it is what its end has not reached yet, so that nothing seen says nothing."""
        confinement = self._confinement
        if confinement is None or confinement.containment.level is not Level.BWRAP:
            self.leftovers = max(self.leftovers or 0, len(left))
            return
        seen = sum(not is_namespace_init(pid) for pid in left)
        self.leftovers = max(self.leftovers or 0, seen) or None

    async def _bury(self, ticker: Clock) -> None:
        """Wait for orphans that end by themselves and cannot be told any more: bubblewrap killed
        before it was seen to fork leaves one, which would stay a zombie."""
        deadline = ticker.monotonic() + BURY_SECONDS
        pause = FIRST_LOOK
        while self._descendants is not None and self._descendants.dying:
            if ticker.monotonic() >= deadline:
                return
            await ticker.sleep(pause)
            pause *= 2
            self.living()

    async def _end(self, left: Mapping[int, ProcessStat], ticker: Clock) -> None:
        self._ask(left)
        if await self._gone(GRACE_SECONDS, ticker):
            return
        deadline = ticker.monotonic() + KILL_WAIT
        # Again and again: a process may have forked between the look and the signal.
        while ticker.monotonic() < deadline:
            self._kill()
            if await self._gone(LAST_POLL, ticker):
                return

    def _ask(self, left: Mapping[int, ProcessStat]) -> None:
        confinement = self._confinement
        if (
            confinement is not None
            and confinement.containment.level is Level.BWRAP
            and not self._observe()
            and left
        ):
            # Asked to end itself, bubblewrap would kill what is inside at once: those are asked,
            # and it follows them.
            for stat in left.values():
                send(stat, signal.SIGTERM)
            return
        self._signal(signal.SIGTERM, left)

    def _kill(self) -> None:
        if self._task_group is not None:
            self._task_group.kill()
        self._signal(signal.SIGKILL, self.living())

    def _signal(self, number: int, left: Mapping[int, ProcessStat]) -> None:
        # The group first: one call reaches also a child that is born during the look. Its number
        # is taken while the leader is not reaped or a member lives.
        if not self._reaped or any(stat.group == self._pid for stat in left.values()):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)
        for stat in left.values():
            if stat.group != self._pid:
                send(stat, number)

    async def _gone(self, seconds: float, ticker: Clock) -> bool:
        deadline = ticker.monotonic() + seconds
        pause = FIRST_LOOK
        while not self._observe() or self.living():
            rest = deadline - ticker.monotonic()
            if rest <= 0:
                return False
            await ticker.sleep(min(pause, rest))
            pause = min(pause * 2, LAST_POLL)
        return True

    def _observe(self) -> bool:
        """Take the status if the process has ended. Nothing is made up when another took it."""
        if self._reaped:
            return True
        try:
            seen = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            pass  # Somebody else took the status: it stays unknown.
        else:
            if seen is None:
                return False
            code = seen.si_status
            if seen.si_code == os.CLD_EXITED:
                self.status = ExitFact(observed=code, effective=code)
            else:
                self.status = ExitFact(signal=code)
        # Reaping frees the number unless the group still has members, which keep it taken.
        self._popen.wait()
        self._reaped = True
        release_start(self._pid)
        return True


def _stats(pids: tuple[int, ...]) -> dict[int, ProcessStat]:
    found = {pid: read_stat(pid) for pid in pids}
    return {pid: stat for pid, stat in found.items() if stat is not None and not stat.finished}
