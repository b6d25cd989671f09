"""One child of ours that leads its own process group: seeing its end, and ending all of it."""

from __future__ import annotations

import os
import signal
import subprocess
from functools import partial

import anyio
import anyio.to_thread

from . import group
from .ending import ExitFact

GRACE_SECONDS = 2.0
"""How long a group has between the request to end and the end."""

KILL_SECONDS = 5.0
"""How long to wait after the kill: longer only helps a process stuck inside the kernel."""


class Child:
    """Knows one started process by its id. `status` is empty until its end was observed."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._reaped = False
        self.status = ExitFact()

    @property
    def _pid(self) -> int:
        return self._popen.pid

    async def ended(self) -> None:
        """Return once the process itself has ended, whoever still holds its pipes."""
        try:
            descriptor = os.pidfd_open(self._pid)
        except (AttributeError, OSError):
            # Not Linux, or a kernel without it: a thread waits and leaves the status in place.
            wait = partial(os.waitid, os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
            await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)
            return
        try:
            await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)

    async def end(self) -> int:
        """End what is left of the group; return how many processes outlived the leader.

        Safe to call again. Shield it: half an end leaves processes behind.
        """
        if not self._reaped:
            await self._end_leader()
        return await self._end_rest()

    async def _end_leader(self) -> None:
        if self._observe():
            return
        for number, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
            group.send(self._pid, number)
            with anyio.move_on_after(patience):
                await self.ended()
            if self._observe():
                return

    async def _end_rest(self) -> int:
        outlived = group.members(self._pid)
        if outlived:
            for number, patience in (
                (signal.SIGTERM, GRACE_SECONDS),
                (signal.SIGKILL, KILL_SECONDS),
            ):
                group.send(self._pid, number)
                if await group.emptied(self._pid, patience):
                    break
        return outlived

    def _observe(self) -> bool:
        """Take the status if the process has ended. Nothing is made up when another took it."""
        try:
            seen = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self._popen.wait()
            self._reaped = True
            return True
        if seen is None:
            return False
        if seen.si_code == os.CLD_EXITED:
            self.status = ExitFact(observed=seen.si_status, effective=seen.si_status)
        else:
            self.status = ExitFact(signal=seen.si_status)
        # Reaping frees the number unless the group still has members, which keep it taken.
        self._popen.wait()
        self._reaped = True
        return True
