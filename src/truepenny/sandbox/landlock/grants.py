"""Rules derived from a plan: which places are granted, and what cannot be said in rules.

Landlock moves nothing: a path inside is the path outside. Nothing can be taken out of a folder
that is granted, so where a plan hides something below one, the other entries are granted instead
of the folder, which then cannot be listed itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from truepenny.errors import CouldNotRun
from truepenny.sandbox.place import is_within
from truepenny.sandbox.plan import Mode, Mount, Plan

from .ruleset import DEVICE, READ, WRITE, Files

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""A new session has no terminal, so `tty` leads to none that is ours."""

MACHINE = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version")
"""Of /proc. The folders of processes cannot be granted one by one, as they come and go, and all of
them together would show everybody's command lines. Listing them is granted: it shows no more than
`stat` does, and what lists its own descriptors to close them (Python, before a program that keeps
some) would otherwise try every number that there could be, which takes many milliseconds."""

MOST_ENTRIES = 4096
"""Rules that may replace one folder; each is a system call at every start."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A place and the rights at and below it. `optional` may be gone by the time of a start."""

    path: Path
    rights: Files
    optional: bool = True


@dataclass(frozen=True, slots=True)
class Around:
    """A folder that may be read but for `holes`: `grants` are looked up anew at every start."""

    folder: Path
    holes: frozenset[Path]

    def grants(self) -> Iterator[Grant]:
        """Yield what is beside the holes. Raises CouldNotRun above `MOST_ENTRIES`."""
        for path in _around(self.folder, self.holes):
            yield Grant(path, READ)


@dataclass(slots=True)
class _Tree:
    mount: Mount
    path: Path
    holes: set[Path] = field(default_factory=set[Path])

    @property
    def writable(self) -> bool:
        return self.mount.mode is Mode.WRITE

    def grant(self) -> Grant | Around:
        if self.holes:
            return Around(self.path, frozenset(self.holes))
        rights = WRITE if self.writable else READ
        return Grant(self.path, rights, optional=not self.mount.required)


def grants(plan: Plan) -> tuple[Grant | Around, ...]:
    """Return what is granted. It holds for all starts of a plan.

    Raises CouldNotRun where the plan hides something in a writable folder, or mounts a path
    somewhere else: no rule can say either.
    """
    trees: list[_Tree] = []
    for mount in plan.mounts:
        if mount.mode in (Mode.READ, Mode.WRITE):
            path = _place(mount)
            if path is not None:
                trees.append(_Tree(mount, path))
        elif mount.mode is Mode.EMPTY:
            trees = list(_hidden(trees, mount.destination))
    for mask in plan.masks:
        trees = list(_hidden(trees, mask))
    modes = {mount.mode for mount in plan.mounts}
    devices = DEVICES if Mode.DEV in modes else DEVICES[:1]
    proc = Path("/proc")
    machine = MACHINE if Mode.PROC in modes else ()
    listed = [Grant(proc, Files.READ_DIR)] if Mode.PROC in modes else []
    return (
        *(tree.grant() for tree in trees),
        *(Grant(Path("/dev", name), DEVICE) for name in devices),
        *(Grant(proc / name, READ) for name in machine),
        *listed,
    )


def unprotected(plan: Plan) -> tuple[Path, ...]:
    """Return the paths that the plan keeps from being written inside a writable folder: no rule
    can, so they are a gap."""
    found: list[Path] = []
    for number, mount in enumerate(plan.mounts):
        above = [
            before
            for before in plan.mounts[:number]
            if before.mode in (Mode.WRITE, Mode.EMPTY)
            and is_within(mount.destination, before.destination)
        ]
        if mount.mode is Mode.READ and above and above[-1].mode is Mode.WRITE:
            found.append(mount.destination)
    return tuple(found)


def _place(mount: Mount) -> Path | None:
    """Return the real path of a mount, or None where an optional one is not there."""
    source = mount.source
    if source is not None:
        try:
            if source in (mount.destination, mount.destination.resolve()):
                return source
        except (OSError, RuntimeError):
            pass  # A circle of links leads to no source.
    if source is not None and not mount.required and not os.path.lexists(source):
        return None
    raise _cannot(f"{mount.destination} cannot stand for {source}")


def _hidden(trees: list[_Tree], hole: Path) -> Iterator[_Tree]:
    for tree in trees:
        if is_within(tree.path, hole):
            continue
        if is_within(hole, tree.path):
            if tree.writable:
                raise _cannot(f"{hole} cannot be hidden in {tree.path}, which may be written")
            tree.holes.add(hole)
        yield tree


def _around(folder: Path, holes: frozenset[Path]) -> Iterator[Path]:
    """Yield the entries of a folder that hold no hole, and those beside the holes further down."""
    waiting, seen = [folder], 0
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                found = sorted((Path(entry.path), entry.is_symlink()) for entry in entries)
        except OSError:
            continue  # What we cannot list, we do not grant.
        for path, link in found:
            seen += 1
            if seen > MOST_ENTRIES:
                raise _cannot(f"too many entries of {folder} lie beside what is hidden in it")
            if link or path in holes:
                continue
            if any(is_within(hole, path) for hole in holes):
                waiting.append(path)
            else:
                yield path


def _cannot(message: str) -> CouldNotRun:
    return CouldNotRun(
        f"Landlock cannot hold this plan: {message}",
        where="sandbox.level",
        remedy="Use the level `bwrap`, or change sandbox.read_paths or the workspace.",
    )
