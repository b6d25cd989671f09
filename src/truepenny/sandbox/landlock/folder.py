"""Folders of one start's own, in place of those that a plan has empty: /tmp and the home."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from truepenny.errors import CouldNotRun
from truepenny.sandbox.place import is_within
from truepenny.sandbox.plan import Mode, Plan
from truepenny.system.scratch import scratch_folder

KIND = "sandbox"
SEARCHABLE = 0o711
"""The folder itself keeps who made it; the account passes through to its own, and lists nothing."""


class OwnFolders:
    """Made for one start; `stack` removes them. `translate` turns paths of the plan into these,
    and those of our own sockets into where they really are.

    Raises CouldNotRun where they cannot be made.
    """

    def __init__(self, plan: Plan, stack: ExitStack) -> None:
        self.paths: tuple[Path, ...] = ()
        # In the plan's order: the last one that covers a path decides.
        self._seen: dict[Path, Path] = {}
        self._made: list[Path] = []
        empty = [mount.destination for mount in plan.mounts if mount.mode is Mode.EMPTY]
        try:
            root = stack.enter_context(scratch_folder(KIND)) if empty else None
            if root is not None:
                os.chmod(root, SEARCHABLE)
            for number, mount in enumerate((*plan.mounts, *plan.sockets)):
                if mount.mode is Mode.EMPTY and root is not None:
                    self._make(root / str(number), mount.destination, stack)
                elif mount.source is not None and mount.mode is not Mode.LINK:
                    self._seen[mount.destination] = mount.source
            if plan.account.drop:
                # All are there, and the inner ones go first: in a folder that is the account's, a
                # process of it could put a link in the place of what we give away.
                for place in reversed(self._made):
                    os.chown(place, plan.account.uid, plan.account.gid, follow_symlinks=False)
        except OSError as error:
            raise CouldNotRun(
                f"no temporary folder can be made: {error.strerror or error}",
                where="sandbox",
                remedy="Make room in the folder that TMPDIR names, or name another one.",
            ) from error

    def translate(self, value: str) -> str:
        """Return what a variable means inside: one that is a path in such a folder, moved."""
        path = Path(value)
        if path.is_absolute():
            for old, new in reversed(self._seen.items()):
                if is_within(path, old):
                    return value if old == new else str(new / path.relative_to(old))
        return value

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the variables with such paths moved, also in one that holds several, as PATH."""
        return {
            name: ":".join(map(self.translate, value.split(":"))) for name, value in env.items()
        }

    def _make(self, place: Path, empty: Path, stack: ExitStack) -> None:
        # One inside another, as a home below /tmp, is made there.
        inside = Path(self.translate(str(empty)))
        place = place if inside == empty else inside
        place.mkdir(mode=0o700)
        # A start that fails leaves it empty, and that goes without a free descriptor too.
        stack.callback(_remove_empty, place)
        self._made.append(place)
        if inside == empty:
            self.paths += (place,)
            stack.callback(_open_up, place)
        self._seen[empty] = place


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _open_up(folder: Path) -> None:
    """Give us back the right to enter what a program closed to itself, so that it can be removed.

    Root passes anyway. Links are never followed: `fwalk` goes by descriptors.
    """
    if os.geteuid() == 0:
        return
    with suppress(OSError):
        os.chmod(folder, 0o700)
    # Without a free descriptor nothing can be walked: what is empty goes all the same.
    with suppress(OSError):
        for _, folders, _, here in os.fwalk(folder, onerror=None):
            for name in folders:
                with suppress(OSError):
                    found = os.stat(name, dir_fd=here, follow_symlinks=False)
                    if found.st_mode & 0o700 != 0o700:
                        os.chmod(name, 0o700, dir_fd=here)
