"""Process groups with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from truepenny.system.process_group import ProcessGroup

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


def _start(script: str) -> subprocess.Popen[bytes]:
    """Start a shell as the leader of a group; it says `ready` when its children run."""
    child = subprocess.Popen(
        ["sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE, text=False
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child


def _reap(child: subprocess.Popen[bytes]) -> None:
    child.wait(10)
    assert child.stdout is not None
    child.stdout.close()


async def test_all_members_are_listed_and_ended() -> None:
    child = _start("sleep 60 & sleep 60 & echo ready; wait")
    group = ProcessGroup(child.pid)
    members = group.members()
    assert child.pid in members
    assert len(members) == 3
    ended = await group.end(5.0)
    assert (ended.empty, ended.killed, ended.left) == (True, False, ())
    _reap(child)
    assert group.members() == ()


async def test_what_ignores_a_polite_request_is_killed() -> None:
    child = _start("trap '' TERM; echo ready; while :; do sleep 60; done")
    ended = await ProcessGroup(child.pid).end(0.2)
    assert (ended.empty, ended.killed) == (True, True)
    _reap(child)
    assert child.returncode == -signal.SIGKILL


async def test_a_member_outlives_its_leader_and_is_still_reached() -> None:
    child = _start("sleep 60 >/dev/null & echo ready")
    group = ProcessGroup(child.pid)
    _reap(child)
    assert len(group.members()) == 1
    assert (await group.kill()).empty


async def test_another_group_of_the_same_session_is_reached() -> None:
    child = _start("set -m; sleep 60 >/dev/null & echo ready; wait")
    group = ProcessGroup(child.pid)
    assert len(group.members()) == 2
    assert (await group.end(5.0)).empty
    _reap(child)


async def test_a_zombie_leader_does_not_count() -> None:
    child = _start("echo ready")
    group = ProcessGroup(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert await group.wait_empty(5.0)
    assert not group.signal(signal.SIGTERM)
    _reap(child)


async def test_a_number_that_belongs_to_a_later_process_is_left_alone() -> None:
    child = _start("echo ready; sleep 60")
    group = ProcessGroup(child.pid)
    # As after a reuse of the number: the noted start is another one.
    group._identity = (group._identity or "")[:-1] + "x"  # pyright: ignore[reportPrivateUsage]
    assert group.members() == ()
    assert not group.signal(signal.SIGKILL)
    assert child.poll() is None
    os.killpg(child.pid, signal.SIGKILL)
    _reap(child)


async def test_waiting_ends_at_its_deadline() -> None:
    child = _start("echo ready; sleep 60")
    group = ProcessGroup(child.pid)
    assert not await group.wait_empty(0.05)
    assert (await group.kill()).killed
    _reap(child)


def test_the_group_of_init_is_never_ours() -> None:
    with pytest.raises(ValueError, match="leader"):
        ProcessGroup(1)
    assert Path("/proc/1").exists()
