from __future__ import annotations

from pathlib import Path, PurePosixPath

from truepenny.sandbox.cgroup.hierarchy import CONTROLLERS, Hierarchy
from truepenny.sandbox.cgroup.limits import entries
from truepenny.sandbox.plan import ResourceLimits

LIMITS = ResourceLimits(memory=1000, processes=7, cpu=1.5)


def written(controllers: tuple[str, ...], limits: ResourceLimits, *, unified: bool) -> list[str]:
    hierarchy = Hierarchy(Path("/x"), PurePosixPath("/"), controllers, unified)
    return [
        f"{entry.name}={entry.text}{'?' if entry.optional else ''}"
        for entry in entries(hierarchy, limits)
    ]


def test_version_2() -> None:
    assert written(CONTROLLERS, LIMITS, unified=True) == [
        "memory.max=1000",
        "memory.swap.max=0?",
        "pids.max=7",
        "cpu.max=150000 100000",
    ]


def test_version_1_each_in_its_own_tree() -> None:
    assert written(("memory",), LIMITS, unified=False) == [
        "memory.limit_in_bytes=1000",
        "memory.memsw.limit_in_bytes=1000?",
    ]
    assert written(("pids",), LIMITS, unified=False) == ["pids.max=7"]
    assert written(("cpu",), LIMITS, unified=False) == [
        "cpu.cfs_period_us=100000",
        "cpu.cfs_quota_us=150000",
    ]


def test_no_limit_writes_nothing() -> None:
    none = ResourceLimits(memory=None, processes=None, cpu=None)
    assert written(CONTROLLERS, none, unified=True) == []
    assert written(CONTROLLERS, none, unified=False) == []


def test_the_smallest_share_is_what_the_kernel_takes() -> None:
    tiny = ResourceLimits(memory=None, processes=None, cpu=0.0001)
    assert written(CONTROLLERS, tiny, unified=True) == ["cpu.max=1000 100000"]
