"""One run's control group, in whichever trees its layout has."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from truepenny.sandbox.confinement import TaskGroup
from truepenny.sandbox.plan import ResourceLimits
from truepenny.system.process_identity import read_stat

from .hierarchy import CONTROLLERS, Hierarchy, named_memberships
from .limits import entries

PROCS = "cgroup.procs"
TASKS = "tasks"
"""Version 1 has it for single threads. A process that has one only, as ours at its start, joins
the same way, and the kernel need not hold up all forks for it, which takes 10 ms and more."""

JOIN_SECONDS = 5.0
"""How long a started process may take to join. It is the first thing it does: within 1 ms in
version 1, some 10 ms in version 2, where the kernel waits for all processors; a machine with far
more to do than it has processors takes a hundred times as long."""

JOIN_STEP_SECONDS, LONGEST_JOIN_STEP = 0.0005, 0.002
"""Pauses between looks. Each look takes time from what is being waited for, so they grow."""

KILL_ROUNDS = 64
"""Each round kills all that is there, and no fork succeeds any more: the second finds nothing."""

NO_FOLDERS = 2
"""Links to a folder without folders in it: its name and its own dot. A file system that counts
otherwise is looked through."""

READ_BYTES = 64 * 1024
"""One read: the numbers of some ten thousand processes."""

REMOVE_PAUSES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Seconds between attempts: a killed process leaves its group some time after the signal."""


class ControlGroup(TaskGroup):
    """Folders of one name in each tree. `joins` are the files to join by, for `placement.place`,
    and `descriptors` hold them open; writing `0` there moves the writer in."""

    def __init__(self, name: str, hierarchies: Sequence[Hierarchy]) -> None:
        self.name = name
        self.descriptors: tuple[int, ...] = ()
        self.hierarchies = tuple(hierarchies)
        self._folders = tuple(one.folder / name for one in hierarchies)
        self.directories = tuple(str(folder) for folder in self._folders)
        self.joins = tuple(
            f"{folder}/{PROCS if one.unified else TASKS}"
            for folder, one in zip(self.directories, hierarchies, strict=True)
        )
        self._removed = False

    @classmethod
    def make(
        cls, name: str, hierarchies: Sequence[Hierarchy], limits: ResourceLimits
    ) -> ControlGroup:
        """Make it with its limits in force. Raises OSError, and then nothing of it is left."""
        group = cls(name, hierarchies)
        try:
            for hierarchy, folder, joins in zip(
                group.hierarchies, group._folders, group.joins, strict=True
            ):
                if hierarchy.hand_down:
                    _hand_down(hierarchy.folder)
                folder.mkdir(mode=0o755)
                for entry in entries(hierarchy, limits):
                    try:
                        write(folder / entry.name, entry.text)
                    except FileNotFoundError:
                        if not entry.optional:
                            raise
                joining = os.open(joins, os.O_WRONLY | os.O_CLOEXEC)
                group.descriptors += (joining,)
        except BaseException:
            group.remove()
            raise
        return group

    def holds(self, pid: int) -> bool:
        """Whether it is in all of the trees; waits at most `JOIN_SECONDS` for it to join."""
        deadline = time.monotonic() + JOIN_SECONDS
        pause = JOIN_STEP_SECONDS
        while not self._joined(pid):
            stat = read_stat(pid)
            if stat is None or stat.finished or time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_JOIN_STEP)
        return True

    def members(self) -> tuple[int, ...]:
        """The living processes in it. Empty also where its folders cannot be read any more."""
        found: set[int] = set()
        for folder in self._all_folders():
            with suppress(OSError, ValueError):
                found.update(map(int, _read(f"{folder}/{PROCS}").split()))
        found.discard(0)  # One of another process namespace, which has no number here.
        return tuple(sorted(found))

    def kill(self) -> None:
        """Kill every member, also those that fork meanwhile. Does not wait."""
        if self._kill_at_once():
            return
        for folder in self._folders:
            with suppress(OSError):
                write(folder / "pids.max", "0")
        killed: set[int] = set()
        for _ in range(KILL_ROUNDS):
            found = set(self.members()) - killed
            if not found:
                return
            for pid in found:
                self._kill_member(pid)
            killed |= found

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a member for memory; False also where it does not say."""
        for hierarchy, folder in zip(self.hierarchies, self.directories, strict=True):
            if "memory" not in hierarchy.controllers:
                continue
            name = "memory.events" if hierarchy.unified else "memory.oom_control"
            with suppress(OSError, ValueError):
                for line in _read(f"{folder}/{name}").splitlines():
                    key, _, count = line.partition(b" ")
                    if key == b"oom_kill" and int(count) > 0:
                        return True
        return False

    def remove(self) -> bool:
        """Remove it; what is still in it is killed. Return whether nothing of it is left.

        Blocks some 0.2 s at the very worst, where a member outlives even a kill.
        """
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()
        if self._removed:
            return True  # Its name is never given again.
        for pause in (*REMOVE_PAUSES, 0.0):
            # By name first: most have nothing below them, and it takes no free descriptor.
            for folder in (*self._folders, *self._below(), *self._folders):
                with suppress(OSError):
                    folder.rmdir()
            if not any(map(os.path.lexists, self.directories)):
                self._removed = True
                return True
            self.kill()
            time.sleep(pause)
        return False

    def _joined(self, pid: int) -> bool:
        try:
            found = named_memberships(_read(f"/proc/{pid}/cgroup").decode("utf-8"))
        except (OSError, UnicodeDecodeError):
            return False
        for hierarchy in self.hierarchies:
            own = str(hierarchy.inside / self.name)
            for key in ("",) if hierarchy.unified else hierarchy.controllers:
                place = found.get(key, "")
                if place != own and not place.startswith(f"{own}/"):
                    return False
        return True

    def _kill_at_once(self) -> bool:
        if not all(one.unified for one in self.hierarchies):
            return False
        try:
            for folder in self._folders:
                write(folder / "cgroup.kill", "1")
        except OSError:
            return False  # A kernel before 5.14.
        return True

    def _kill_member(self, pid: int) -> None:
        """Kill it through a descriptor and only while it is a member: numbers come again."""
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return
        try:
            if pid in self.members():
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except OSError:
            pass  # It ended by itself.
        finally:
            os.close(descriptor)

    def _all_folders(self) -> Iterator[Path]:
        """Yield its folders and those that members made below, the deepest first."""
        yield from self._below()
        yield from self._folders

    def _below(self) -> Iterator[Path]:
        """Yield the folders that members made below, the deepest first."""
        for folder in self._folders:
            try:
                if os.stat(folder).st_nlink == NO_FOLDERS:
                    continue
            except OSError:
                continue  # It is gone, or was never made.
            for path, _, _ in os.walk(folder, topdown=False):
                if path != str(folder):
                    yield Path(path)


def _read(path: str) -> bytes:
    """Read a small file of the kernel's. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = b""
        while part := os.read(descriptor, READ_BYTES):
            found += part
        return found
    finally:
        os.close(descriptor)


def write(path: Path, text: str) -> None:
    """Write to a file of the kernel's in one piece. Raises OSError: the kernel's refusal."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)


def _hand_down(folder: Path) -> None:
    path = folder / "cgroup.subtree_control"
    on = path.read_text(encoding="ascii").split()
    missing = [f"+{name}" for name in CONTROLLERS if name not in on]
    if missing:
        write(path, " ".join(missing))
