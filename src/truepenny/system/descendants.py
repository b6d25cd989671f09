"""Finding what a process that we started leaves behind, wherever it moved itself.

On Linux we ask the kernel to hand us the orphans among our descendants (`PR_SET_CHILD_SUBREAPER`),
so a process that left its group and its session, and lost its parent, becomes a child of ours. It
is known by the cookie in its environment, by the session or group it still is in, or because it
was seen below the process while that lived. One that left its session, cleared its environment and
lost its parent before anybody looked is not known for ours and stays: only a control group or a
process namespace holds that one.

The cost of an empty answer is one small read: the children of our first thread, which is the one
that gets the orphans.
"""

from __future__ import annotations

import ctypes
import gc
import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import cast

from .process_identity import ProcessStat, read_stat
from .reserve import RESERVE

RUN_VARIABLE = "TRUEPENNY_RUN"
"""In the environment of each process that we start, and of what that starts in turn."""

ENVIRON_BYTES = 4 * 1024 * 1024
"""Read of an environment in search of the cookie: the kernel allows a stack's quarter, 2 MiB."""

EXEC_LOOKS, EXEC_SECONDS = 20, 0.0005
"""Looks at an environment that reads empty, and the pause between them: a process that becomes
another program has none until that is loaded, a millisecond or so. Few processes have none."""

BURY_SECONDS = 1.0
"""How long orphans that are ending already are waited for: the kernel needs a few milliseconds,
on a machine that is busy with much else some hundred."""

_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")

_adopting: dict[int, bool] = {}
"""Whether we get orphans, by process id: a fork has to ask again."""


_marks: dict[int, str] = {}


def runtime_mark() -> str:
    """Return what all cookies of this process begin with; a fork has another."""
    return _marks.setdefault(os.getpid(), f"{secrets.token_hex(8)}-")


def new_cookie() -> str:
    """Return a new value of `RUN_VARIABLE`."""
    return f"{runtime_mark()}{secrets.token_hex(4)}"


def adopt_orphans() -> bool:
    """Ask, once per process, to become the parent of orphaned descendants; return whether so."""
    pid = os.getpid()
    if pid not in _adopting:
        RESERVE.fill()
        _adopting[pid] = sys.platform == "linux" and _become_subreaper()
    return _adopting[pid]


def _become_subreaper() -> bool:
    if not _children_file(os.getpid(), os.getpid()).exists():
        return False  # A kernel without that file: orphans could not be told cheaply.
    try:
        return ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def _children_file(pid: int, thread: int) -> Path:
    return _PROC / str(pid) / "task" / str(thread) / "children"


def _read_children(pid: int, thread: int) -> tuple[int, ...]:
    try:
        data = RESERVE.use(_children_file(pid, thread).read_bytes)
    except OSError:
        return ()
    return tuple(map(int, data.split()))


def children(pid: int) -> tuple[int, ...]:
    """Return the children of all threads of a process."""
    try:
        threads = RESERVE.use(lambda: os.listdir(_PROC / str(pid) / "task"))
    except OSError:
        return ()
    return tuple(child for thread in threads for child in _read_children(pid, int(thread)))


def tree(pid: int) -> dict[int, ProcessStat]:
    """Return the living descendants of a process, without itself."""
    found: dict[int, ProcessStat] = {}
    waiting = list(children(pid))
    while waiting:
        stat = read_stat(waiting.pop())
        if stat is None or stat.pid in found:
            continue
        found[stat.pid] = stat
        waiting += children(stat.pid)
    return {number: stat for number, stat in found.items() if not stat.finished}


class Descendants:
    """The processes below one start: the leader of a session, and all that came of it.

    Only useful where `adopt_orphans` said yes.
    """

    def __init__(self, leader: int, cookie: str) -> None:
        self.leader = leader
        self._mark = f"{RUN_VARIABLE}={cookie}\0".encode()
        self._seen: dict[int, int] = {}
        self.dying = False
        """Whether the last look met an orphan amidst its end. It may be of any run, and stays a
        zombie unless somebody looks again."""

    def living(self) -> dict[int, ProcessStat]:
        """Return those that live, the leader itself not counted; reap those that do not."""
        self.dying = False
        found = tree(self.leader) if _is_child(self.leader) else {}
        for pid in _read_children(os.getpid(), os.getpid()):
            if pid == self.leader or pid in _STARTS:
                continue
            stat = read_stat(pid)
            if stat is None:
                continue
            if not self._ours(stat):
                if stat.finished:
                    _reap_stranger(stat)
                elif stat.exiting and stat.session != os.getsid(0):
                    self.dying = True
                continue
            if stat.finished:
                _reap(pid)
            else:
                found[pid] = stat
            found |= tree(pid)
        self._seen |= {pid: stat.start for pid, stat in found.items()}
        return found

    def _ours(self, stat: ProcessStat) -> bool:
        if self.leader in (stat.session, stat.group) or self._seen.get(stat.pid) == stat.start:
            return True
        for _ in range(EXEC_LOOKS):
            try:
                environment = RESERVE.use(lambda: _environment(stat))
            except OSError:
                return False
            if environment or stat.finished or stat.exiting:
                return self._mark in environment
            # Empty, or amidst becoming another program: then it is not there for a moment.
            time.sleep(EXEC_SECONDS)
        return False


def bury(leader: int, cookie: str, seconds: float = BURY_SECONDS) -> None:
    """Wait, blocking, until what a child of ours left is dead, and reap what of it came to us.

    For a start whose remains end by themselves, as bubblewrap's namespace does; the child has been
    reaped. Ends after `seconds` whatever lives then.
    """
    if not _adopting.get(os.getpid()):
        return  # Its orphans go to the first process, which reaps them.
    left, deadline = Descendants(leader, cookie), time.monotonic() + seconds
    while (left.living() or left.dying) and time.monotonic() < deadline:
        time.sleep(EXEC_SECONDS)


def _environment(stat: ProcessStat) -> bytes:
    folder = _PROC / str(stat.pid)
    if stat.threads <= 1:
        return _read(folder / "environ")
    # Of one whose first thread has ended, only the threads that go on still show it, and none but
    # root may ask the first.
    for thread in os.listdir(folder / "task"):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if found := _read(folder / "task" / thread / "environ"):
                return found
    return b""


def _read(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(ENVIRON_BYTES)


_STARTS: set[int] = set()


def hold_start(pid: int) -> None:
    """Note a child that we started ourselves: it is no orphan."""
    _STARTS.add(pid)


def release_start(pid: int) -> None:
    """Forget a child of ours that was reaped."""
    _STARTS.discard(pid)


def _is_child(pid: int) -> bool:
    """Whether a start of ours still has its number, dead or alive."""
    return pid in _STARTS


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def _reap_stranger(stat: ProcessStat) -> None:
    """Reap an orphan that came to us already dead, as the first process would have done.

    A child that other code in this process started has the session of this process, or a `Popen`
    that will want its status. The first process of a namespace below ours was started by neither.
    """
    if stat.session == os.getsid(0):
        return
    if not _of_inner_namespace(stat.pid) and _has_popen(stat.pid):
        return
    _reap(stat.pid)


def _has_popen(pid: int) -> bool:
    """Whether other code waits for it. One that is being made, in another thread, may be its."""
    return any(
        issubclass(type(one), subprocess.Popen)
        and getattr(cast("subprocess.Popen[bytes]", one), "pid", pid) == pid
        for one in cast("list[object]", gc.get_objects())
    )


def _of_inner_namespace(pid: int) -> bool:
    return len(_inner_numbers(pid)) > 1


def is_namespace_init(pid: int) -> bool:
    """Whether it is the first process of a namespace below ours, which ends with all in there."""
    numbers = _inner_numbers(pid)
    return len(numbers) > 1 and numbers[-1] == b"1"


def _inner_numbers(pid: int) -> list[bytes]:
    """Return its numbers from our namespace inwards; none where it is gone."""
    try:
        status = RESERVE.use((_PROC / str(pid) / "status").read_bytes)
    except OSError:
        return []
    return status.partition(b"\nNSpid:")[2].partition(b"\n")[0].split()


def send(stat: ProcessStat, number: int) -> bool:
    """Signal one process through a descriptor, so that its number cannot change hands."""
    try:
        return RESERVE.use(lambda: _send(stat, number))
    except OSError:
        return False


def _send(stat: ProcessStat, number: int) -> bool:
    handle = os.pidfd_open(stat.pid)
    try:
        now = read_stat(stat.pid)
        if now is None or now.start != stat.start:
            return False
        signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
    return True
