"""Locks: proof of death, never age; exactly one winner; nothing left behind (recall 1.8)."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from truepenny.errors import LockBusy, StorageFailed
from truepenny.system import lock_record
from truepenny.system.clock import ManualClock
from truepenny.system.lock import Lock, LockHeld
from truepenny.system.lock_record import LockRecord, decode_record, publish_record
from truepenny.system.lock_recovery import CLAIM, MAX_CLAIMS, RECOVERY, LockBlocked
from truepenny.system.lock_sweep import MAX_AGE, sweep_candidates

pytestmark = pytest.mark.anyio


def _dead_record(**changes: object) -> LockRecord:
    """Return a record of this host whose process is gone: its number lives on in ours, later."""
    mine = LockRecord.mine("test")
    assert mine.process_start is not None
    head, _, start = mine.process_start.rpartition(":")
    dead = dataclasses.replace(mine, process_start=f"{head}:{int(start) - 1}")
    return dataclasses.replace(dead, **changes)  # type: ignore[arg-type]


def _names(directory: Path) -> set[str]:
    return {entry.name for entry in directory.iterdir()}


async def test_take_and_give_back(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "a.lock", "testing", run_id="run_1")
    await lock.acquire()
    owner = lock.owner()
    assert owner is not None
    assert (owner.pid, owner.purpose, owner.run_id) == (os.getpid(), "testing", "run_1")
    assert _names(tmp_path) == {"a.lock"}
    assert (tmp_path / "a.lock").stat().st_mode & 0o777 == 0o600
    assert lock.release()
    assert not lock.release()
    assert _names(tmp_path) == set()
    async with lock:
        assert lock.held
    assert not lock.held


async def test_a_second_owner_waits_in_vain_and_learns_who_holds_it(tmp_path: Path) -> None:
    first = Lock(tmp_path / "a.lock", "first")
    await first.acquire()
    with pytest.raises(LockHeld) as caught:
        await Lock(tmp_path / "a.lock").acquire(0)
    assert isinstance(caught.value, LockBusy)
    assert caught.value.owner == first.owner()
    assert caught.value.exit_code == 5
    assert _names(tmp_path) == {"a.lock"}


async def test_the_wait_is_as_long_as_asked_and_polls_seldom(tmp_path: Path) -> None:
    await Lock(tmp_path / "a.lock").acquire()
    clock = ManualClock()
    looks: list[float] = []

    class Watched(Lock):
        def try_acquire(self) -> bool:
            looks.append(clock.monotonic())
            return super().try_acquire()

    with pytest.raises(LockHeld) as caught:
        await Watched(tmp_path / "a.lock", clock=clock).acquire(10.0)
    assert caught.value.waited == pytest.approx(10.0)
    assert len(looks) < 25
    gaps = [b - a for a, b in pairwise(looks)]
    assert max(gaps) <= 1.2
    assert all(gap >= 0.04 for gap in gaps[1:-1])


async def test_the_waiter_gets_it_when_it_is_given_back(tmp_path: Path) -> None:
    first = Lock(tmp_path / "a.lock")
    await first.acquire()
    second = Lock(tmp_path / "a.lock", clock=ManualClock())
    async with anyio.create_task_group() as group:
        group.start_soon(second.acquire, 60.0)
        await anyio.lowlevel.checkpoint()
        assert not second.held
        first.release()
    assert second.held


async def test_cancelling_the_wait_leaves_nothing(tmp_path: Path) -> None:
    await Lock(tmp_path / "a.lock").acquire()
    with anyio.move_on_after(0.05) as scope:
        await Lock(tmp_path / "a.lock").acquire(60.0)
    assert scope.cancelled_caught
    assert _names(tmp_path) == {"a.lock"}


def test_a_dead_owner_is_recovered_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    publish_record(path, _dead_record())
    assert Lock(path).try_acquire()
    assert _names(tmp_path) == {"a.lock"}


@pytest.mark.parametrize(
    "change",
    [
        {"hostname": "some-other-host"},
        {"process_start": None},
        {"process_start": "ps-lstart:Mon Jan  1 00:00:00 2026"},
        {"process_start": "unheard-of:1"},
    ],
)
def test_what_is_not_proven_dead_is_never_stolen(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "a.lock"
    publish_record(path, _dead_record(**change))
    os.utime(path, (0, 0))  # age is no argument
    before = path.read_bytes()
    assert not Lock(path).try_acquire()
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"{", b"null\n", b'{"pid": 1}\n', b"\xff\n"])
def test_an_unreadable_record_is_never_stolen(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(content)
    with pytest.raises(LockHeld) as caught:
        anyio.run(Lock(path).acquire, 0.0)
    assert caught.value.owner is None
    assert path.read_bytes() == content


def test_a_lock_from_before_a_reboot_is_recovered(tmp_path: Path) -> None:
    mine = LockRecord.mine("x")
    assert mine.process_start is not None
    parts = mine.process_start.split(":")
    parts[1] = "00000000-0000-0000-0000-000000000000"
    publish_record(tmp_path / "a.lock", dataclasses.replace(mine, process_start=":".join(parts)))
    assert Lock(tmp_path / "a.lock").try_acquire()


def test_lock_and_recovery_lock_both_stale(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    publish_record(path, _dead_record())
    publish_record(tmp_path / f"a.lock{RECOVERY}", _dead_record(nonce="other"))
    assert Lock(path).try_acquire()
    assert _names(tmp_path) == {"a.lock"}


def _dead_chain(path: Path, length: int) -> None:
    publish_record(path, _dead_record())
    recovery = path.with_name(path.name + RECOVERY)
    record = _dead_record(nonce="r")
    publish_record(recovery, record)
    for number in range(length):
        digest = hashlib.sha256(record.encode()).hexdigest()[:32]
        record = _dead_record(nonce=f"claim-{number}")
        publish_record(recovery.with_name(f"{recovery.name}{CLAIM}{digest}"), record)


def test_a_chain_of_dead_claims_is_followed_and_cleared(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    _dead_chain(path, 5)
    assert Lock(path).try_acquire()
    assert _names(tmp_path) == {"a.lock"}


def test_an_endless_chain_is_blocked_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    _dead_chain(path, MAX_CLAIMS)
    with pytest.raises(LockBlocked) as caught:
        Lock(path).try_acquire()
    assert caught.value.remedy
    assert path.exists()


@pytest.mark.parametrize("suffix", [RECOVERY, "claim"])
def test_a_live_recovery_is_not_disturbed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "a.lock"
    if suffix == "claim":
        _dead_chain(path, 1)
        claim = next(entry for entry in tmp_path.iterdir() if CLAIM in entry.name)
        claim.unlink()
        publish_record(claim, LockRecord.mine("recovering"))
    else:
        publish_record(path, _dead_record())
        publish_record(tmp_path / f"a.lock{RECOVERY}", LockRecord.mine("recovering"))
    before = _names(tmp_path)
    assert not Lock(path).try_acquire()
    assert _names(tmp_path) == before


def test_releasing_never_removes_a_later_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    lock = Lock(path)
    assert lock.try_acquire()
    path.unlink()
    publish_record(path, LockRecord.mine("somebody else"))
    assert not lock.release()
    assert path.exists()


def test_sweep_takes_old_candidates_and_nothing_that_only_looks_like_one(tmp_path: Path) -> None:
    uuid = "0b0e4a0e-9c55-4a3b-8d2e-111122223333"
    old, young = f"a.lock.candidate-{uuid}", f"b.lock.candidate-{uuid}"
    lock = f"c.candidate-{uuid}.lock"
    claim = f"a.lock{RECOVERY}{CLAIM}{'0' * 32}"
    for name in (old, young, lock):
        (tmp_path / name).write_bytes(b"")
    publish_record(tmp_path / claim, _dead_record())
    past = time.time() - MAX_AGE - 60
    for name in (old, lock, claim):
        os.utime(tmp_path / name, (past, past))
    assert sweep_candidates(tmp_path, force=True) == 2
    assert _names(tmp_path) == {young, lock}
    os.utime(tmp_path / young, (past, past))
    assert sweep_candidates(tmp_path) == 0  # once an hour


def test_without_hard_links_the_name_is_made_exclusively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: object, target: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(lock_record.os, "link", no_links)
    first, second = Lock(tmp_path / "a.lock"), Lock(tmp_path / "a.lock")
    assert first.try_acquire()
    assert not second.try_acquire()
    assert first.release()
    assert _names(tmp_path) == set()


def test_a_missing_directory_is_a_storage_failure(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        Lock(tmp_path / "no" / "a.lock").try_acquire()


def test_the_record_reads_back_and_only_a_whole_one_counts() -> None:
    record = LockRecord.mine("purpose", "run_1")
    data = record.encode()
    assert decode_record(data) == record
    assert all(decode_record(data[:cut]) is None for cut in range(len(data)))
    assert set(json.loads(data)) == {field.name for field in dataclasses.fields(LockRecord)}


_HOLD = (
    "import sys; from pathlib import Path; from truepenny.system.lock import Lock\n"
    "lock = Lock(Path(sys.argv[1]), 'holding')\n"
    "assert lock.try_acquire(); print('held', flush=True); sys.stdin.read()\n"
)


def test_a_killed_holder_is_recovered_and_a_living_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    assert not Lock(path).try_acquire()
    child.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    lock = Lock(path)
    assert lock.try_acquire()  # its zombie is not reaped yet, and holds nothing
    child.communicate()
    owner = lock.owner()
    assert owner is not None and owner.pid == os.getpid()


_CONTEND = (
    "import sys; from pathlib import Path; from truepenny.system.lock import Lock\n"
    "sys.stdin.readline()\n"
    "print(Lock(Path(sys.argv[1])).try_acquire(), flush=True); sys.stdin.readline()\n"
)


def test_of_several_contenders_for_a_stale_lock_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    publish_record(path, _dead_record())
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _CONTEND, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"go\n")
        child.stdin.flush()
    answers: list[bytes] = []
    for child in children:
        assert child.stdout is not None
        answers.append(child.stdout.readline())
    for child in children:
        child.communicate(b"end\n", timeout=10)
    assert answers.count(b"True\n") == 1


_COUNT = (
    "import sys, anyio; from pathlib import Path; from truepenny.system.lock import Lock\n"
    "async def main():\n"
    "    for _ in range(int(sys.argv[3])):\n"
    "        async with Lock(Path(sys.argv[1]), wait=60):\n"
    "            file = Path(sys.argv[2]); n = int(file.read_text())\n"
    "            file.with_suffix('.new').write_text(str(n + 1))\n"
    "            file.with_suffix('.new').replace(file)\n"
    "            assert file.read_text() == str(n + 1)\n"
    "anyio.run(main)\n"
)


@pytest.mark.slow
def test_no_increment_is_lost_while_holders_are_killed(tmp_path: Path) -> None:
    path, counter = tmp_path / "a.lock", tmp_path / "counter"
    counter.write_text("0", encoding="utf-8")
    arguments = [sys.executable, "-c", _COUNT, str(path), str(counter)]
    steady = [subprocess.Popen([*arguments, "40"]) for _ in range(3)]
    for _ in range(12):
        victim = subprocess.Popen([*arguments, "1000000"])
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            owner = Lock(path).owner()
            if owner is not None and owner.pid == victim.pid:
                break
        victim.kill()
        victim.wait()
    assert [child.wait(120) for child in steady] == [0, 0, 0]
    # A victim may have counted any number of times; the lock itself is free and nothing is left.
    assert int(counter.read_text(encoding="utf-8")) >= 120
    lock = Lock(path)
    assert lock.try_acquire() and lock.release()
    assert not [name for name in _names(tmp_path) if RECOVERY in name and CLAIM not in name]


def test_a_link_that_was_made_though_reported_as_there_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def answer_lost(source: Path, target: Path) -> None:
        link(source, target)
        raise FileExistsError(errno.EEXIST, "exists")

    monkeypatch.setattr(os, "link", answer_lost)
    ours, other = Lock(tmp_path / "l"), Lock(tmp_path / "l")
    assert ours.try_acquire()
    monkeypatch.undo()
    assert not other.try_acquire()
    assert ours.release()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_taken_though_its_candidate_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink

    def failing(self: Path, missing_ok: bool = False) -> None:
        if ".candidate-" in self.name:
            raise OSError(errno.EIO, "input/output error")
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", failing)
    lock = Lock(tmp_path / "l")
    assert lock.try_acquire() and lock.release()


def test_a_record_nested_too_deeply_is_an_unknown_owner(tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(b"[" * 100_000 + b"\n")
    lock = Lock(tmp_path / "l")
    assert not lock.try_acquire() and lock.owner() is None
