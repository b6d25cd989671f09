"""Leaving this process no free descriptor, for the time of a test."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MOST = 512
"""The limit while a test fills it: fast to fill, and more than anything that is open already."""


@contextmanager
def exhausted(free: int = 0) -> Iterator[None]:
    """Take every descriptor but `free` of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, MOST), hard))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(taken.pop())
        yield
    finally:
        for handle in taken:
            os.close(handle)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
