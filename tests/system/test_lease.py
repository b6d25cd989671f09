"""Counting leases: as many as there are slots, in the order they came, no ticket left behind."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from truepenny.errors import LockBusy, StorageFailed
from truepenny.system import lease as lease_module
from truepenny.system.clock import ManualClock
from truepenny.system.lease import CountingLease, Lease, LeaseBusy
from truepenny.system.lock_record import LockRecord
from truepenny.system.ticket_quarantine import DIRECTORY, WATCH

pytestmark = pytest.mark.anyio


def _lease(root: Path, slots: int = 2) -> CountingLease:
    return CountingLease(root, "wake", slots, clock=ManualClock())


def _ticket(lease: CountingLease, pid: int, content: bytes, *, milliseconds: int = 1) -> Path:
    lease.tickets.mkdir(parents=True, exist_ok=True)
    path = lease.tickets / f"{milliseconds:016d}-000001-{pid:010d}-x.ticket"
    path.write_bytes(content)
    return path


def _gone() -> int:
    """Return the number of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


async def test_slots_are_given_until_there_is_none(tmp_path: Path) -> None:
    lease = _lease(tmp_path)
    first, second = await lease.acquire(), await lease.acquire()
    assert (first.slot, second.slot) == (1, 2)
    with pytest.raises(LeaseBusy) as caught:
        await lease.acquire(3.0)
    assert isinstance(caught.value, LockBusy)
    assert caught.value.waited == pytest.approx(3.0)
    assert lease.waiting() == 0
    assert first.release()
    assert not first.release()
    async with await lease.acquire() as third:
        assert third.slot == 1
    assert (tmp_path / "wake.slot-2.lock").exists()
    assert not (tmp_path / "wake.slot-1.lock").exists()


async def test_waiters_are_served_in_the_order_of_their_calls(tmp_path: Path) -> None:
    lease = _lease(tmp_path, 1)
    held = await lease.acquire()
    order: list[int] = []

    async def wait(number: int) -> None:
        async with await lease.acquire(1000.0):
            order.append(number)

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(wait, number)
        while lease.waiting() < 5:
            await anyio.lowlevel.checkpoint()
        held.release()
    assert order == [0, 1, 2, 3, 4]
    assert lease.waiting() == 0


async def test_a_later_comer_does_not_pass_a_living_head(tmp_path: Path) -> None:
    lease = _lease(tmp_path)
    _ticket(lease, os.getpid(), LockRecord.mine("elsewhere").encode())
    with pytest.raises(LeaseBusy):
        await lease.acquire(1.0)
    assert lease.waiting() == 1


async def test_a_dead_head_is_removed_without_a_pause(tmp_path: Path) -> None:
    lease = _lease(tmp_path)
    pid = _gone()
    dead = dataclasses.replace(LockRecord.mine("x"), pid=pid)
    _ticket(lease, pid, dead.encode())
    taken = await lease.acquire()
    assert (taken.slot, taken.waited) == (1, 0.0)
    assert lease.waiting() == 0


async def test_a_dead_holder_frees_its_slot(tmp_path: Path) -> None:
    lease = _lease(tmp_path, 1)
    pid = _gone()
    record = dataclasses.replace(LockRecord.mine("x"), pid=pid)
    (tmp_path / "wake.slot-1.lock").write_bytes(record.encode())
    assert (await lease.acquire()).slot == 1


async def test_a_broken_head_of_a_gone_process_is_put_aside_with_its_reason(
    tmp_path: Path,
) -> None:
    lease = _lease(tmp_path)
    broken = _ticket(lease, _gone(), b"\0\0\0")
    taken = await lease.acquire(10.0)
    assert taken.waited >= WATCH
    aside = lease.tickets / DIRECTORY
    assert (aside / broken.name).read_bytes() == b"\0\0\0"
    note = json.loads((aside / f"{broken.name}.reason.json").read_text(encoding="utf-8"))
    assert note["ticket"] == broken.name
    assert note["reason"]
    assert note["bytes"] == 3


async def test_a_broken_head_of_a_living_process_keeps_its_place(tmp_path: Path) -> None:
    lease = _lease(tmp_path)
    broken = _ticket(lease, os.getpid(), b"{", milliseconds=int(time.time() * 1000) - 1)
    with pytest.raises(LeaseBusy):
        await lease.acquire(10.0)
    assert broken.exists()


async def test_a_broken_head_whose_number_went_to_a_later_process_is_put_aside(
    tmp_path: Path,
) -> None:
    lease = _lease(tmp_path)
    _ticket(lease, os.getpid(), b"{", milliseconds=1)  # written in 1970, before this process
    await lease.acquire(10.0)
    assert lease.waiting() == 0


async def test_a_head_that_is_still_changing_is_waited_for(tmp_path: Path) -> None:
    class Writing(ManualClock):
        async def sleep(self, seconds: float) -> None:
            with broken.open("ab") as file:
                file.write(b".")
            await super().sleep(seconds)

    lease = CountingLease(tmp_path, "wake", 1, clock=Writing())
    broken = _ticket(lease, _gone(), b"{")
    with pytest.raises(LeaseBusy):
        await lease.acquire(10.0)
    assert broken.exists()


async def test_a_cleared_queue_does_not_lose_a_waiter(tmp_path: Path) -> None:
    lease = _lease(tmp_path, 1)
    held = await lease.acquire()
    got: list[Lease] = []

    async def wait() -> None:
        got.append(await lease.acquire(1000.0))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        while lease.waiting() == 0:
            await anyio.lowlevel.checkpoint()
        for ticket in lease.tickets.glob("*.ticket"):
            ticket.unlink()
        await anyio.lowlevel.checkpoint()
        held.release()
    assert got[0].slot == 1


async def test_cancelling_leaves_no_ticket(tmp_path: Path) -> None:
    lease = CountingLease(tmp_path, "wake", 1)
    held = await lease.acquire()
    with anyio.move_on_after(0.05) as scope:
        await lease.acquire(60.0)
    assert scope.cancelled_caught
    assert lease.waiting() == 0
    assert held.release()


async def test_a_slot_is_given_back_when_the_ticket_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = _lease(tmp_path, 1)

    def stuck(path: Path) -> None:
        raise StorageFailed("stuck", where=str(path))

    monkeypatch.setattr(lease_module, "_remove", stuck)
    with pytest.raises(StorageFailed):
        await lease.acquire()
    assert not (tmp_path / "wake.slot-1.lock").exists()


def test_a_lease_needs_a_slot(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="slot"):
        CountingLease(tmp_path, "wake", 0)


_WORK = (
    "import sys, os, anyio; from pathlib import Path\n"
    "from truepenny.system.lease import CountingLease\n"
    "async def main():\n"
    "    root = Path(sys.argv[1]); lease = CountingLease(root, 'wake', 2, poll=0.005)\n"
    "    for _ in range(15):\n"
    "        async with await lease.acquire(60):\n"
    "            mark = root / f'in-{os.getpid()}'; mark.touch()\n"
    "            assert len(list(root.glob('in-*'))) <= 2\n"
    "            await anyio.sleep(0.002); mark.unlink()\n"
    "anyio.run(main)\n"
)


@pytest.mark.slow
def test_never_more_holders_than_slots_over_processes(tmp_path: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", _WORK, str(tmp_path)]) for _ in range(5)]
    assert [child.wait(120) for child in children] == [0] * 5
    assert CountingLease(tmp_path, "wake", 2).waiting() == 0
