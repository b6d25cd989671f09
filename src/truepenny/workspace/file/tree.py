"""Walking a directory tree by descriptors: no link is followed, and all that is left out counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .access import FileAccess
from .ignore import GENERATED, VERSION_CONTROL
from .place import Place
from .work import Stop

SAMPLES = 5
"""Names of what was skipped that are told."""

MOST_DEPTH = 200
"""Directories within each other: each holds a descriptor open while its content is walked."""

CHECK_EVERY = 128
"""Entries between two looks at the clock (tools spec 2.7)."""


@dataclass(slots=True)
class Skipped:
    """What a walk left out: how many by reason, and the first few names of each."""

    counts: dict[str, int] = field(default_factory=dict[str, int])
    samples: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, reason: str, path: str) -> None:
        """Count one."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        names = self.samples.setdefault(reason, [])
        if len(names) < SAMPLES:
            names.append(path)

    def detail(self) -> dict[str, Any]:
        """Return it as JSON: {reason: {count, samples}}."""
        return {
            reason: {"count": count, "samples": self.samples[reason]}
            for reason, count in self.counts.items()
        }

    def words(self) -> str:
        """Return it as one phrase, empty if nothing was."""
        return ", ".join(
            f"{count} {reason} ({', '.join(self.samples[reason][:2])}"
            f"{', ...' if count > 2 else ''})"
            for reason, count in self.counts.items()
        )


@dataclass(frozen=True, slots=True)
class Found:
    """One entry: its path below the root, with `/`; what it is; when it was changed."""

    path: str
    is_directory: bool
    is_link: bool
    mtime_ns: int


class Walk:
    """One walk. `skipped` and `seen` are final when the iteration ended."""

    def __init__(
        self,
        files: FileAccess,
        place: Place,
        include_ignored: bool,
        stop: Stop,
        late: Callable[[], bool],
    ) -> None:
        self.skipped = Skipped()
        self.seen = 0
        self.complete = True
        self._root = place
        # What is below one of these is never come to.
        self._denied = {
            str(path.relative_to(place.path))
            for path in files.roots.hidden
            if path.is_relative_to(place.path)
        }
        self._ignored = include_ignored
        self._stop = stop
        self._late = late

    def __iter__(self) -> Iterator[Found]:
        yield from self._directory(self._root.open_directory(), "", 0)

    def _directory(self, handle: int, prefix: str, depth: int) -> Iterator[Found]:
        try:
            try:
                entries = sorted(self._entries(handle), key=lambda entry: entry.name)
            except OSError:
                self.skipped.add("unreadable", prefix or ".")
                return
            for entry in entries:
                if not self.complete:
                    return
                yield from self._entry(handle, entry, prefix, depth)
        finally:
            os.close(handle)

    def _entries(self, handle: int) -> list[os.DirEntry[str]]:
        out: list[os.DirEntry[str]] = []
        with os.scandir(handle) as entries:
            for entry in entries:
                out.append(entry)
                if len(out) % CHECK_EVERY == 0 and not self._go_on():
                    break
        return out

    def _entry(
        self, handle: int, entry: os.DirEntry[str], prefix: str, depth: int
    ) -> Iterator[Found]:
        path = prefix + entry.name
        self.seen += 1
        if self.seen % CHECK_EVERY == 0 and not self._go_on():
            return
        if path in self._denied:
            self.skipped.add("denied", path)
            return
        is_directory = entry.is_dir(follow_symlinks=False)
        if is_directory and entry.name in VERSION_CONTROL:
            self.skipped.add("version control", path)
            return
        if is_directory and entry.name in GENERATED and not self._ignored:
            self.skipped.add("generated", path)
            return
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            self.skipped.add("vanished", path)
            return
        is_link = entry.is_symlink()
        yield Found(path, is_directory, is_link, found.st_mtime_ns)
        if not is_directory:
            return
        if depth >= MOST_DEPTH:
            self.skipped.add("too deep", path)
            return
        try:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            below = os.open(entry.name, flags, dir_fd=handle)
        except OSError:
            self.skipped.add("unreadable", path)
            return
        yield from self._directory(below, f"{path}/", depth + 1)

    def _go_on(self) -> bool:
        self._stop.check()
        if self._late():
            self.complete = False
        return self.complete
