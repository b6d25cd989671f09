"""Processes in real control groups, where the machine lets us have some."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path, PurePosixPath

from truepenny.sandbox.cgroup.choice import layout, open_group
from truepenny.sandbox.cgroup.group import ControlGroup
from truepenny.sandbox.cgroup.hierarchy import Hierarchy, memberships
from truepenny.sandbox.cgroup.name import new_name
from truepenny.sandbox.level import LimitLayout
from truepenny.sandbox.placement import place
from truepenny.sandbox.plan import ResourceLimits

ENV = {"PATH": "/usr/bin:/bin"}
MEBIBYTE = 1024 * 1024


def limited(limits: ResourceLimits | None = None) -> ControlGroup | None:
    """Return a group, or None where none is delegated; then that is what is said."""
    group = open_group(limits or ResourceLimits())
    assert (group is None) == (layout() is LimitLayout.RLIMITS)
    return group


def unified() -> ControlGroup | None:
    """Return a group of the unified tree without any limit, which any writable mount of it gives;
    None where we may not write there."""
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    points = [line.split()[4] for line in mounts if line.partition(" - ")[2].startswith("cgroup2")]
    own = memberships(Path("/proc/self/cgroup").read_text(encoding="utf-8")).get("")
    if not points or own is None:
        return None
    folder = Path(points[0], *own.parts[1:])
    if not os.access(folder, os.W_OK):
        return None
    name = new_name()
    assert name is not None
    hierarchy = Hierarchy(folder, PurePosixPath(own), (), unified=True)
    return ControlGroup.make(name, (hierarchy,), ResourceLimits())


def start(group: ControlGroup, *argv: str) -> subprocess.Popen[str]:
    """Start a program in the group, with pipes for its input and output."""
    return subprocess.Popen(
        [*place(group.descriptors).words, *argv],
        env=ENV,
        pass_fds=group.descriptors,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def remains(group: ControlGroup) -> list[str]:
    return [path for path in group.directories if os.path.lexists(path)]
