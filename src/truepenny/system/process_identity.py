"""Tell a process from a later one that got the same number.

Linux: boot id, pid namespace and start time (field 22 of `/proc/<pid>/stat`). Elsewhere the start
time that `ps` prints. Values carry a scheme prefix and are only compared within one scheme.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from .reserve import RESERVE

_PROC = Path("/proc")
_LINUX = "linux-proc"
_PS = "ps-lstart"
_STAT_BYTES = 4096  # the line has some 350, its name at most 64 of them
_PF_EXITING = 0x4  # of the kernel's own flags, field 9
_PS_SECONDS = 5.0  # `ps` answers in milliseconds; a machine that needs longer is not asked again


class Liveness(StrEnum):
    """What is proven about the process that once had a number and a start identity."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """Fields of `/proc/<pid>/stat`: `start` in clock ticks since boot."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    threads: int
    start: int
    flags: int = 0

    @property
    def exiting(self) -> bool:
        """Whether it runs nothing any more and ends by itself, in a moment: its memory, with its
        environment, may be gone already."""
        return bool(self.flags & _PF_EXITING) and self.threads <= 1

    @property
    def finished(self) -> bool:
        """Whether it only waits to be reaped: a zombie runs nothing unless other threads do."""
        return self.state in "ZX" and self.threads <= 1


def read_stat(pid: int) -> ProcessStat | None:
    """Read a process's line in /proc; None where there is none (or no /proc)."""
    try:
        data = RESERVE.use(lambda: _bytes(f"/proc/{pid}/stat"))
    except OSError:
        return None
    # The name in parentheses may contain anything, also `)`: fields start after the last one.
    fields = data.decode("utf-8", "replace").rpartition(")")[2].split()
    try:
        return ProcessStat(
            pid,
            fields[0],
            int(fields[1]),
            int(fields[2]),
            int(fields[3]),
            int(fields[17]),
            int(fields[19]),
            int(fields[6]),
        )
    except (IndexError, ValueError):
        return None


def _bytes(path: str) -> bytes:
    """Read a small file of the kernel's: a look that is taken often, so without layers."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(handle, _STAT_BYTES)
    finally:
        os.close(handle)


def start_identity(pid: int) -> str | None:
    """Return what tells this process from others with its number; None where that is unknown."""
    if pid == os.getpid():
        return _own_identity(pid)
    return _identity(pid)


@functools.lru_cache(maxsize=1)
def _own_identity(pid: int) -> str | None:  # keyed by the number: a fork is another process
    return _identity(pid)


def _identity(pid: int) -> str | None:
    if sys.platform == "linux":
        stat = read_stat(pid)
        boot = _boot_id()
        return f"{_LINUX}:{boot}:{_pid_namespace()}:{stat.start}" if stat and boot else None
    try:
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            timeout=_PS_SECONDS,
            env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/bin:/usr/bin"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = " ".join(done.stdout.decode("ascii", "replace").split())
    return f"{_PS}:{text}" if done.returncode == 0 and text else None


@functools.cache
def _boot_id() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@functools.cache
def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").removeprefix("pid:[").removesuffix("]")
    except OSError:
        return "?"


def exists(pid: int) -> bool:
    """Whether a process has this number now; EPERM means that one does."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except OverflowError:
        return False
    return True


def liveness(pid: int, identity: str | None) -> Liveness:
    """Judge a process of this machine by the identity noted when it was alive.

    DEAD is a proof: another boot, no such number, another start, or a zombie. A number from
    another pid namespace means nothing here, so that is UNKNOWN.
    """
    known = (identity or "").split(":")
    if known[0] == _LINUX and len(known) == 4 and sys.platform == "linux":
        _, boot, namespace, start = known
        if boot != _boot_id():
            return Liveness.DEAD if _boot_id() else Liveness.UNKNOWN
        if namespace != _pid_namespace():
            return Liveness.UNKNOWN
        stat = read_stat(pid)
        if stat is None:
            return Liveness.UNKNOWN if exists(pid) else Liveness.DEAD
        same = str(stat.start) == start and not stat.finished
        return Liveness.ALIVE if same else Liveness.DEAD
    if not exists(pid):
        return Liveness.DEAD
    now = start_identity(pid)
    if not identity or now is None or now.split(":")[0] != known[0]:
        return Liveness.UNKNOWN
    return Liveness.ALIVE if now == identity else Liveness.DEAD


def started_at(pid: int) -> float | None:
    """Return when a process started, in seconds since 1970 by the wall clock; None if unknown."""
    stat = read_stat(pid)
    if stat is None:
        return None
    try:
        lines = (_PROC / "stat").read_text(encoding="ascii").splitlines()
        boot = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
    except (OSError, StopIteration, ValueError, IndexError):
        return None
    return boot + stat.start / os.sysconf("SC_CLK_TCK")
