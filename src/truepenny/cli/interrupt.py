"""Ending in order when asked to: SIGTERM and SIGHUP take the way of Ctrl-C.

Their own way is to die at once, which leaves child processes and temporary folders behind.
"""

from __future__ import annotations

import signal
from types import FrameType


def heed() -> None:
    """Treat the signals that ask for an end as an interrupt, unless somebody ignores them."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell's background job ignores Ctrl-C, and is asked to end all the same.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)
