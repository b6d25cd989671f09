"""A process group that we started: signal it, list it, wait until it is empty.

The group is the one whose leader we spawned in a session of its own. A number that was given to a
later process is never signalled: the leader is compared by its start identity, and a group that
was once seen empty stays closed. A child that left for another session is not a member; one that
made another group within the session is.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from .clock import Clock, SystemClock
from .descendants import send
from .process_identity import Liveness, exists, liveness, read_stat, start_identity

FIRST_POLL = 0.005
"""Seconds; most processes are gone a few milliseconds after a signal."""

LAST_POLL = 0.1
"""Seconds between looks at a group that takes its time."""

KILL_WAIT = 5.0
"""Seconds to wait after SIGKILL: longer only where the kernel itself is stuck."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a group was brought to its end. `left` are the members still there: normally none."""

    empty: bool
    killed: bool
    left: tuple[int, ...]


class ProcessGroup:
    """The group led by `leader`, a child of ours started with `start_new_session`.

    Make it right after the start, before the child can have been reaped.
    """

    def __init__(self, leader: int) -> None:
        if leader <= 1:
            raise ValueError("a process group of ours has a leader above 1")
        self.leader = leader
        self._identity = start_identity(leader)
        self._closed = False

    def members(self) -> tuple[int, ...]:
        """Return the numbers of the living members; zombies do not count."""
        if self._closed:
            return ()
        look = self._scan if sys.platform == "linux" else self._probe
        # Twice before it is closed for good: a listing of /proc is no snapshot.
        found = look() or look()
        self._closed = not found
        return found

    def signal(self, number: int) -> bool:
        """Send a signal to all members; return whether there was one to send it to."""
        members = self.members()
        if not members:
            return False
        # The group first: one call reaches also a child that is born during the scan.
        sent = _send_group(self.leader, number)
        for pid in members:
            stat = read_stat(pid)
            if stat is not None and stat.group != self.leader and stat.session == self.leader:
                sent = send(stat, number) or sent
        return sent

    async def wait_empty(self, seconds: float, clock: Clock | None = None) -> bool:
        """Wait until nothing of the group lives, at most so long; return whether it is so.

        A leader that nobody reaps is a zombie and does not count.
        """
        ticker = clock or SystemClock()
        deadline = ticker.monotonic() + seconds
        pause = FIRST_POLL
        while self.members():
            left = deadline - ticker.monotonic()
            if left <= 0:
                return False
            await ticker.sleep(min(pause, left))
            pause = min(pause * 2, LAST_POLL)
        return True

    async def end(self, grace: float, clock: Clock | None = None) -> Ended:
        """Ask the group to end, kill what is left after `grace` seconds, and wait for it."""
        if not self.signal(signal.SIGTERM) or await self.wait_empty(grace, clock):
            return Ended(True, False, ())
        return await self.kill(clock)

    async def kill(self, clock: Clock | None = None) -> Ended:
        """Kill the group and wait up to 5 seconds for it."""
        killed = self.signal(signal.SIGKILL)
        ticker = clock or SystemClock()
        deadline = ticker.monotonic() + KILL_WAIT
        # Again and again: a member may have forked between the scan and the signal.
        while not await self.wait_empty(LAST_POLL, ticker):
            if ticker.monotonic() >= deadline:
                return Ended(False, killed, self.members())
            self.signal(signal.SIGKILL)
        return Ended(True, killed, ())

    def _leader_is_ours(self) -> bool:
        stat = read_stat(self.leader)
        if stat is None or stat.finished:
            return True  # gone or a zombie: its number is kept as long as the group has members
        return liveness(self.leader, self._identity) is not Liveness.DEAD

    def _scan(self) -> tuple[int, ...]:
        if not self._leader_is_ours():
            return ()
        found: list[int] = []
        for entry in os.scandir(Path("/proc")):
            if not entry.name.isdigit():
                continue
            stat = read_stat(int(entry.name))
            if stat is None or stat.finished:
                continue
            if self.leader in (stat.group, stat.session):
                found.append(stat.pid)
        return tuple(sorted(found))

    def _probe(self) -> tuple[int, ...]:
        """Without /proc: whether the group exists at all, named by its leader."""
        if exists(self.leader) and not self._leader_is_ours():
            return ()
        try:
            os.killpg(self.leader, 0)
        except ProcessLookupError:
            return ()
        except PermissionError:
            return (self.leader,)
        return (self.leader,)


def _send_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
