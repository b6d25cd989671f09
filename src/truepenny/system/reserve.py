"""One descriptor kept back, so that a process that has no more can still look and end.

Ending what we started needs a few short-lived descriptors (/proc, pidfds). Out of them, "cannot
be read" would be taken for "is not there" and processes would stay behind.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_OUT = (errno.EMFILE, errno.ENFILE)

T = TypeVar("T")


class Reserve:
    """Holds one descriptor from `fill` on. Safe to use from threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handle = -1

    def fill(self) -> None:
        """Take the descriptor, if it is not held and one is to be had."""
        with self._lock:
            self._fill()

    def use(self, call: Callable[[], T]) -> T:
        """Call it; where descriptors are out, once more with the kept one given up for the time.

        `call` must close what it opens. Raises what it raises.
        """
        try:
            return call()
        except OSError as error:
            if error.errno not in _OUT:
                raise
        with self._lock:
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1
            try:
                return call()
            finally:
                self._fill()

    def _fill(self) -> None:
        if self._handle < 0:
            with suppress(OSError):
                self._handle = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


RESERVE = Reserve()
"""The one of this process."""
