"""What may stay behind: processes, descriptors, control groups, mounts, temporary folders."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from truepenny.sandbox.cgroup.hierarchy import candidates
from truepenny.system.descendants import children
from truepenny.system.process_identity import read_stat

Remains = set[tuple[str, str]]


def remains(folders: tuple[Path, ...] = ()) -> Remains:
    """Return what is there now, each with its kind. `folders` are those where files may be left."""
    found: Remains = {("child", _child(pid)) for pid in children(os.getpid())}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found.add(("descriptor", f"{name} {os.readlink(f'/proc/self/fd/{name}')}"))
    for candidate in candidates():
        for place in candidate.hierarchies:
            mine = (name for name in os.listdir(place.folder) if f"-{os.getpid()}-" in name)
            found |= {("group", f"{place.folder}/{name}") for name in mine}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        found |= {("mount", line.split(" ", 1)[1]) for line in file}
    for folder in folders:
        found |= {("file", str(path)) for path in folder.iterdir()}
    return found


def _child(pid: int) -> str:
    stat = read_stat(pid)
    return f"{pid} {stat.state if stat else 'gone'}"


@contextmanager
def nothing_new(*folders: Path) -> Generator[None]:
    """Fail where something is there afterwards that was not before."""
    before = {_lasting(one) for one in remains(folders)}
    yield
    assert {one for one in remains(folders) if _lasting(one) not in before} == set()


def _lasting(one: tuple[str, str]) -> tuple[str, str]:
    """Without the state of a process, which changes; our own listing of descriptors is one too."""
    kind, name = one
    if kind == "descriptor" and "/proc/" in name:
        return kind, "listing"
    return (kind, name.split()[0]) if kind == "child" else one
