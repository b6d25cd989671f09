"""One child of ours that leads its own process group: seeing its end, and ending all of it."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from functools import partial

import anyio
import anyio.to_thread

from truepenny.system.process_group import ProcessGroup

from .ending import ExitFact
from .guard import GUARD

GRACE_SECONDS = 2.0
"""How long a group has between the request to end and the kill."""


class Child:
    """One started process with its group. `status` is empty until its end was observed."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._pid = popen.pid
        GUARD.hold(popen.pid)
        self._group = ProcessGroup(popen.pid)
        self._reaped = False
        self.status = ExitFact()

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

    async def end(self) -> int:
        """End the process and its group, or what the process left behind when it ended by itself.

        Returns how many it left behind. Safe to call again. Shield it: half an end leaves
        processes behind.
        """
        if not self._observe():
            ended = await self._group.end(GRACE_SECONDS)
            self._observe()
            left = 0
        else:
            left = len(self._group.members())
            ended = await self._group.end(GRACE_SECONDS)
        # What even a kill did not end may do so once we are gone.
        if ended.empty:
            GUARD.release(self._pid)
        return left

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
        return True
