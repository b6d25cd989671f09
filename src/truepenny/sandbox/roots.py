"""The roots of file tools that run outside the sandbox, from the same plan as its mounts.

A tool of ours that reads or writes for the model must reach exactly what a command would: no list
of its own, or the two drift apart (assistant spec 3.1 and 12.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .place import is_within
from .plan import Mode, Plan


@dataclass(frozen=True, slots=True)
class FileRoots:
    """Folders and files, absolute, as named outside. The deepest root above a path decides; at the
    same path `deny` goes before `read`, and `read` before `write`.

    `read` may be read, `write` may be read and written. `deny` may not be written, and not be read
    either where it is in `hidden` too. A path below none of them is refused.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    deny: tuple[Path, ...]
    hidden: tuple[Path, ...]

    def readable(self, path: Path) -> bool:
        """Whether an absolute path without links may be read."""
        root = _deepest(path, (*self.read, *self.write, *self.hidden))
        return root is not None and root not in self.hidden

    def writable(self, path: Path) -> bool:
        """Whether an absolute path without links may be written."""
        root = _deepest(path, (*self.read, *self.write, *self.deny, *self.hidden))
        return root in self.write and root not in (*self.read, *self.deny, *self.hidden)


def file_roots(plan: Plan) -> FileRoots:
    """Return the roots. What has another name inside than outside is left out: a file tool speaks
    of paths as the model does, which are those inside."""
    modes: dict[Path, Mode] = {}
    deny: dict[Path, None] = {}
    hidden: dict[Path, None] = {}
    for mount in plan.mounts:
        # A later mount covers whatever was at or below its place.
        for earlier in [path for path in modes if is_within(path, mount.destination)]:
            del modes[earlier]
        if mount.mode in (Mode.READ, Mode.WRITE) and mount.source == mount.destination:
            modes[mount.destination] = mount.mode
        elif _inside(mount.destination, modes):
            hidden[mount.destination] = None  # Something else is there for a command.
        if mount.deny:
            deny[mount.destination] = None
    for path in plan.masks:
        deny[path] = hidden[path] = None
    read = tuple(path for path, mode in modes.items() if mode is Mode.READ)
    write = tuple(path for path, mode in modes.items() if mode is Mode.WRITE)
    for path in read:
        if _inside(path, dict.fromkeys(write, Mode.WRITE)):
            deny[path] = None
    return FileRoots(read, write, tuple(deny), tuple(hidden))


def _inside(path: Path, roots: dict[Path, Mode]) -> bool:
    return any(path != root and is_within(path, root) for root in roots)


def _deepest(path: Path, roots: tuple[Path, ...]) -> Path | None:
    above = [root for root in roots if is_within(path, root)]
    return max(above, key=lambda root: len(root.parts), default=None)
