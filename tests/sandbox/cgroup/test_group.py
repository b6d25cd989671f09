from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox.cgroup.real import (
    MEBIBYTE,
    finish,
    limited,
    remains,
    start,
    unified,
)
from truepenny.errors import CouldNotRun
from truepenny.sandbox.cgroup import group as group_module
from truepenny.sandbox.cgroup.choice import open_group
from truepenny.sandbox.cgroup.group import ControlGroup
from truepenny.sandbox.plan import ResourceLimits

PYTHON = "/usr/bin/python3"

ESCAPING = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        print(os.getpid(), flush=True)
        sys.stdin.read()
    os._exit(0)
os.wait()
"""

BOMB = """
import os, sys
made = 0
while True:
    try:
        if os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
    except OSError as error:
        print(made, error.errno, flush=True)
        break
    made += 1
sys.stdin.read()
"""

kinds = pytest.mark.parametrize("make", [limited, unified])
Make = Callable[[], ControlGroup | None]


def is_gone(pid: int) -> bool:
    """Wait until a process has ended, through a descriptor of it."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 10)[0])
    finally:
        os.close(descriptor)


@kinds
def test_the_program_is_in_it_from_its_first_step(make: Make) -> None:
    group = make()
    if group is None:
        return
    process = start(group, "cat", "/proc/self/cgroup")
    assert group.holds(process.pid) or process.poll() is not None
    code, out, _ = finish(process)
    assert code == 0
    inside = {line for line in out.splitlines() if line.endswith(f"/{group.name}")}
    assert len(inside) == len(group.directories)
    assert group.remove()
    assert not remains(group)


@kinds
def test_it_tells_its_members_from_others(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    group = make()
    if group is None:
        return
    process = start(group, "cat")
    assert group.holds(process.pid)
    assert group.members() == (process.pid,)
    monkeypatch.setattr(group_module, "JOIN_SECONDS", 0.0)
    assert not group.holds(os.getpid())
    finish(process)
    assert not group.holds(process.pid)
    assert group.members() == ()
    assert group.remove()


@kinds
def test_a_kill_reaches_what_left_its_session_and_its_parents(make: Make) -> None:
    group = make()
    if group is None:
        return
    process = start(group, PYTHON, "-c", ESCAPING)
    assert process.stdout is not None
    escaped = int(process.stdout.readline())
    assert os.getpgid(escaped) != process.pid
    assert escaped in group.members()
    group.kill()
    assert is_gone(escaped)
    finish(process)
    assert group.remove()
    assert not remains(group)


@kinds
def test_removing_ends_what_is_still_inside(make: Make) -> None:
    group = make()
    if group is None:
        return
    process = start(group, "cat")
    assert group.holds(process.pid)
    assert group.remove()
    assert finish(process)[0] == -signal.SIGKILL
    assert not remains(group)
    assert group.members() == ()
    assert group.remove()


@kinds
def test_groups_that_members_made_below_go_too(make: Make) -> None:
    group = make()
    if group is None:
        return
    for folder in group.directories:
        Path(folder, "inner", "most").mkdir(parents=True)
    assert group.remove()
    assert not remains(group)


@kinds
def test_its_descriptors_are_not_for_everybody(make: Make) -> None:
    group = make()
    if group is None:
        return
    assert not any(os.get_inheritable(one) for one in group.descriptors)
    held = group.descriptors
    assert group.remove()
    for one in held:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(one)


def test_memory_is_limited_for_all_and_the_kill_is_named() -> None:
    group = limited(ResourceLimits(memory=64 * MEBIBYTE))
    if group is None:
        return
    assert not group.out_of_memory()
    code, out, _ = finish(start(group, PYTHON, "-c", "b'x' * (256 << 20); print('had it')"))
    assert code == -signal.SIGKILL
    assert out == ""
    assert group.out_of_memory()
    assert group.remove()
    assert not group.out_of_memory()


def test_a_program_within_its_memory_is_left_alone() -> None:
    group = limited(ResourceLimits(memory=64 * MEBIBYTE))
    if group is None:
        return
    assert finish(start(group, PYTHON, "-c", "b'x' * (8 << 20); print('had it')"))[1] == "had it\n"
    assert not group.out_of_memory()
    assert group.remove()


def test_a_fork_bomb_stops_at_the_limit_and_dies_whole() -> None:
    group = limited(ResourceLimits(processes=16))
    if group is None:
        return
    process = start(group, PYTHON, "-c", BOMB)
    assert process.stdout is not None
    made, error = process.stdout.readline().split()
    assert (int(made), int(error)) == (15, 11)
    members = group.members()
    assert len(members) == 16
    group.kill()
    assert all(is_gone(pid) for pid in members)
    finish(process)
    assert group.remove()
    assert not remains(group)


def test_processor_time_is_limited() -> None:
    group = limited(ResourceLimits(cpu=0.2))
    if group is None:
        return
    burn = "import time; end = time.perf_counter() + 0.6\nwhile time.perf_counter() < end: pass\n"
    ask = "print(time.process_time())"
    code, out, _ = finish(start(group, PYTHON, "-c", burn + ask))
    assert code == 0
    # A fifth of 0.6 s, one period more, and the start of Python before the clock.
    assert float(out) < 0.35
    assert group.remove()


def test_no_limit_is_none() -> None:
    none = ResourceLimits(memory=None, processes=None, cpu=None)
    group = limited(none)
    if group is None:
        return
    assert finish(start(group, "echo", "x"))[1] == "x\n"
    assert group.remove()


def test_what_the_kernel_refuses_leaves_nothing() -> None:
    group = limited()
    if group is None:
        return
    parents = [os.path.dirname(folder) for folder in group.directories]
    assert group.remove()
    with pytest.raises(CouldNotRun, match="control group"):
        open_group(ResourceLimits(processes=-5))
    ours = f"truepenny-{os.getpid()}-"
    assert not [name for parent in parents for name in os.listdir(parent) if name.startswith(ours)]
