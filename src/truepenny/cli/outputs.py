"""Where calls by hand leave whole outputs: the newest are kept, since results name them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from truepenny.system.directories import ensure
from truepenny.system.scope import UserScope

from .workbench import Workbench

KEPT = 40
"""Files that are kept: enough to look back, few enough to forget about."""


@contextmanager
def outputs(bench: Workbench) -> Generator[Path]:
    """Give the folder, one for each user; afterwards remove the oldest files beyond the limit."""
    folder = ensure(UserScope(bench.directories.state / "calls").path(bench.user))
    try:
        yield folder
    finally:
        for old in sorted(folder.iterdir(), key=_birth, reverse=True)[KEPT:]:
            with suppress(OSError):  # Another call may have removed it.
                old.unlink()


def _birth(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
