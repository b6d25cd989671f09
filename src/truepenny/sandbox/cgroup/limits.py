"""What is written into a fresh group: the limits of a run in the words of either layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from truepenny.sandbox.plan import ResourceLimits

from .hierarchy import Hierarchy

PERIOD_MICROSECONDS = 100_000
"""The kernel's own default; processor time is shared out once in each."""

LEAST_QUOTA_MICROSECONDS = 1_000
"""The kernel takes no less in one period."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a group and its text. `optional` may be absent: the kernel was built without
    it, and nothing that is promised depends on it."""

    name: str
    text: str
    optional: bool = False


def entries(hierarchy: Hierarchy, limits: ResourceLimits) -> Iterator[Entry]:
    """Yield what to write, in this order."""
    if "memory" in hierarchy.controllers and limits.memory is not None:
        yield from _memory(limits.memory, unified=hierarchy.unified)
    if "pids" in hierarchy.controllers and limits.processes is not None:
        yield Entry("pids.max", str(limits.processes))
    if "cpu" in hierarchy.controllers and limits.cpu is not None:
        quota = max(int(limits.cpu * PERIOD_MICROSECONDS), LEAST_QUOTA_MICROSECONDS)
        if hierarchy.unified:
            yield Entry("cpu.max", f"{quota} {PERIOD_MICROSECONDS}")
        else:
            yield Entry("cpu.cfs_period_us", str(PERIOD_MICROSECONDS))
            yield Entry("cpu.cfs_quota_us", str(quota))


def _memory(size: int, *, unified: bool) -> Iterator[Entry]:
    # Without the second of each, a run would go on in swap instead of meeting its limit. The
    # order matters in version 1: the sum of both may never be below memory alone.
    if unified:
        yield Entry("memory.max", str(size))
        yield Entry("memory.swap.max", "0", optional=True)
    else:
        yield Entry("memory.limit_in_bytes", str(size))
        yield Entry("memory.memsw.limit_in_bytes", str(size), optional=True)
