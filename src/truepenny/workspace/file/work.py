"""Running file work beside the event loop, and turning what stops it into a result."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio.to_thread

from truepenny.tool.result import Result

from .fault import FileFault


class Stopped(Exception):
    """Raised inside work whose caller is gone; nobody sees it."""


class Stop:
    """Tells work in a thread that nobody waits for it any more."""

    def __init__(self) -> None:
        self._set = threading.Event()

    def set(self) -> None:
        """Ask the work to end."""
        self._set.set()

    def check(self) -> None:
        """Raise Stopped if it was asked to; call it between two bounded steps."""
        if self._set.is_set():
            raise Stopped


async def looked_up(work: Callable[[Stop], Result]) -> Result:
    """Run work that changes nothing; a cancelled call leaves it at once and it ends soon."""
    stop = Stop()

    def run() -> Result:
        try:
            return work(stop)
        except FileFault as fault:
            return fault.result()

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    finally:
        stop.set()


async def changed_once(work: Callable[[], Result]) -> Result:
    """Run work that changes something: a cancelled call waits for its end, which is near."""

    def run() -> Result:
        try:
            return work()
        except FileFault as fault:
            return fault.result()

    return await anyio.to_thread.run_sync(run)
