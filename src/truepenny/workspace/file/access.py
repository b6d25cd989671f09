"""What the file tools may touch and how much they take in, decided before any call."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from truepenny.sandbox.roots import FileRoots

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
    """Roots and limits. Every path is absolute and real; relative arguments start at `cwd`.

    Make it with `file_access`: real paths are compared with real paths.
    """

    cwd: Path
    roots: FileRoots
    limits: FileLimits = field(default_factory=FileLimits)

    def level(self, path: Path) -> Literal["write", "read", "denied", "outside"]:
        """Return what may be done with a real path."""
        roots = self.roots
        if roots.writable(path):
            return "write"
        if roots.readable(path):
            return "read"
        known = any(path.is_relative_to(root) for root in (*roots.read, *roots.write))
        return "denied" if known else "outside"


def file_access(cwd: Path, roots: FileRoots, limits: FileLimits | None = None) -> FileAccess:
    """Return the access with all roots resolved, as `truepenny.workspace.file.place` needs them.

    What is denied or hidden is kept in both forms: as written, should a link on the way be changed
    later, and resolved.
    """
    real = FileRoots(
        tuple(map(_real, roots.read)),
        tuple(map(_real, roots.write)),
        _both(roots.deny),
        _both(roots.hidden),
    )
    return FileAccess(_real(cwd), real, limits or FileLimits())


def _both(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(form for path in paths for form in (path, _real(path))))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path, strict=False))
