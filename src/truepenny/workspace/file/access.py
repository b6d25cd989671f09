"""What the file tools may touch and how much they take in, decided before any call."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

READ_LINES = 2000
"""Lines of one read: about what a model can keep in mind (assistant spec 2.8)."""

READ_BYTES = 50 * 1024
"""Bytes of one read that are shown (tools spec 2.1)."""

SCAN_BYTES = 32 * 1024 * 1024
"""Bytes of a file that one read goes through to count and to find its window (tools spec 2.1)."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """The limits of a read: lines and bytes shown, bytes gone through."""

    lines: int = READ_LINES
    shown_bytes: int = READ_BYTES
    scan_bytes: int = SCAN_BYTES


@dataclass(frozen=True, slots=True)
class FileAccess:
    """Roots and limits. Every path is absolute; relative arguments of calls start at `cwd`.

    The deepest root that holds a path decides whether it may be read or also written; one of
    `deny` keeps out whatever lies below it. Real paths are compared with real paths: make it with
    `file_access`.
    """

    cwd: Path
    read: tuple[Path, ...]
    write: tuple[Path, ...]
    deny: tuple[Path, ...] = ()
    limits: FileLimits = field(default_factory=FileLimits)

    def level(self, path: Path) -> str:
        """Return `write`, `read`, `denied` or `outside` for a real path."""
        if any(path.is_relative_to(root) for root in self.deny):
            return "denied"
        depths = {"read": _depth(path, self.read), "write": _depth(path, self.write)}
        if max(depths.values()) < 0:
            return "outside"
        return "read" if depths["read"] > depths["write"] else "write"


def file_access(
    cwd: Path,
    read: Iterable[Path] = (),
    write: Iterable[Path] = (),
    deny: Iterable[Path] = (),
    limits: FileLimits | None = None,
) -> FileAccess:
    """Return the access with all roots resolved, as `truepenny.workspace.file.place` compares them.

    A denied path is kept in both forms: as written, should a link on the way change later, and
    resolved.
    """
    refused = dict.fromkeys(form for path in deny for form in (path, _real(path)))
    return FileAccess(
        _real(cwd),
        tuple(map(_real, read)),
        tuple(map(_real, write)),
        tuple(refused),
        limits or FileLimits(),
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path, strict=False))


def _depth(path: Path, roots: tuple[Path, ...]) -> int:
    return max((len(root.parts) for root in roots if path.is_relative_to(root)), default=-1)
