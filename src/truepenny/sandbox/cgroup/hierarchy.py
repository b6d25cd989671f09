"""Where control groups of ours may be made, read from /proc: candidates, not yet tried.

Version 2 is one tree. A process may not be in a group that hands out controllers, so ours are made
beside our own group, in the unit that was delegated to us (`Delegate=yes` with a
`DelegateSubgroup=`); its limits hold above ours. Version 1 is a tree for each controller, and ours
are made below our own group, whose limits hold above theirs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from truepenny.sandbox.level import LimitLayout

CONTROLLERS = ("memory", "pids", "cpu")
"""What a layout must have, all of it: a layout is one word, and must not promise half."""

PROC = Path("/proc")
_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A folder for groups of ours. `inside` is how /proc/<pid>/cgroup names the same place.

    `controllers` are those that it limits; `hand_down` says that they may have to be switched on
    for groups below the folder, which is ours to do.
    """

    folder: Path
    inside: PurePosixPath
    controllers: tuple[str, ...]
    unified: bool
    hand_down: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """Hierarchies that together limit everything."""

    layout: LimitLayout
    hierarchies: tuple[Hierarchy, ...]


@dataclass(frozen=True, slots=True)
class _Tree:
    root: PurePosixPath
    point: Path
    controllers: tuple[str, ...]
    unified: bool

    def folder(self, inside: PurePosixPath) -> Path | None:
        """Return the folder of a group, or None where this mount does not show it."""
        if not inside.is_relative_to(self.root):
            return None
        folder = self.point / inside.relative_to(self.root)
        return folder if folder.is_dir() else None


def candidates(proc: Path = PROC) -> tuple[Candidate, ...]:
    """Return what may be tried, best first; nothing where /proc or the trees cannot be read."""
    try:
        trees = tuple(_trees((proc / "self/mountinfo").read_text(encoding="utf-8")))
        own = memberships((proc / "self/cgroup").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ()
    unified = [Candidate(LimitLayout.CGROUP_V2, (one,)) for one in _unified(trees, own)]
    split = _split(trees, own)
    return (*unified, *([Candidate(LimitLayout.CGROUP_V1, split)] if split else []))


def memberships(text: str) -> dict[str, PurePosixPath]:
    """Read a /proc/<pid>/cgroup: each controller's group; the unified tree's key is empty."""
    return {key: PurePosixPath(path) for key, path in named_memberships(text).items()}


def named_memberships(text: str) -> dict[str, str]:
    """Return the same by name only, for a look that is taken often."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            found[""] = path
        for controller in controllers.split(","):
            if controller:
                found[controller] = path
    return found


def _trees(mountinfo: str) -> Iterator[_Tree]:
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) < 5 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        root, point = PurePosixPath(_plain(fields[3])), Path(_plain(fields[4]))
        if kind[0] == "cgroup2":
            yield _Tree(root, point, (), unified=True)
        else:
            found = tuple(name for name in kind[2].split(",") if name in CONTROLLERS)
            if found:
                yield _Tree(root, point, found, unified=False)


def _plain(field: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 8)), field)


def _unified(trees: tuple[_Tree, ...], own: dict[str, PurePosixPath]) -> Iterator[Hierarchy]:
    inside = own.get("")
    if inside is None:
        return
    for tree in trees:
        if not tree.unified:
            continue
        for place, hand_down in _beside(inside):
            folder = tree.folder(place)
            if folder is not None and _offers(folder, handed_down=not hand_down):
                yield Hierarchy(folder, place, CONTROLLERS, unified=True, hand_down=hand_down)


def _beside(inside: PurePosixPath) -> Iterator[tuple[PurePosixPath, bool]]:
    """Yield places that are not our own group, and whether we may switch controllers on there."""
    units = [place for place in (inside, *inside.parents) if place.suffix in (".service", ".scope")]
    if units and units[0] != inside:
        yield units[0], True  # The last unit of the path: what is below it was made by us.
    if inside.name:
        yield inside.parent, False
    else:
        yield inside, True  # The root of the machine may have both; any other refuses the switch.


def _offers(folder: Path, *, handed_down: bool) -> bool:
    name = "cgroup.subtree_control" if handed_down else "cgroup.controllers"
    try:
        offered = (folder / name).read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError):
        return False
    return set(CONTROLLERS) <= set(offered) and os.access(folder, os.W_OK)


def _split(trees: tuple[_Tree, ...], own: dict[str, PurePosixPath]) -> tuple[Hierarchy, ...]:
    found: list[Hierarchy] = []
    for tree in trees:
        if tree.unified:
            continue
        inside = own.get(tree.controllers[0])
        # Where the mount does not show our own group (a container's), its top is what is left.
        for place in (inside, tree.root):
            folder = None if place is None else tree.folder(place)
            if place is not None and folder is not None and os.access(folder, os.W_OK):
                found.append(Hierarchy(folder, place, tree.controllers, unified=False))
                break
    have = [name for one in found for name in one.controllers]
    # Each exactly once: a second mount of the same tree would make the group twice.
    return tuple(found) if sorted(have) == sorted(CONTROLLERS) else ()
