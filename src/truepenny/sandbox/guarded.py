"""What stays read-only inside a writable workspace: files that make programs run outside later.

A person's git runs what `.git/config` and `.git/hooks` name, with all their rights, the next time
they look at the folder. So a command may commit but not change these two. The folders above are
mounted onto themselves, because what is a mount point cannot be renamed away.

What this cannot stop: a repository made anew inside the workspace, and `.git/commondir`, a name
that git follows once it is there and that cannot be held without creating it. One that is found is
refused at the next start, so that somebody learns of it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from truepenny.errors import CouldNotRun

from .place import is_within
from .plan import Mode, Mount

GIT = ".git"
GIT_NAMES = ("config", "hooks")
"""git works without them, so each is held even where it has to be made first."""

GIT_MORE = ("config.worktree", "modules")
"""Held where they are: the settings of a worktree, which are not read unless the first ones say
so, and those of submodules, which may not be committed to from inside."""

GIT_PLANTED = "commondir"
"""Belongs to linked worktrees, whose `.git` is a file; in a folder it sends git elsewhere."""

GIT_REASON = "git runs programs that it names, outside as well"

OURS = ".truepenny"
OURS_REASON = "says how this workspace is checked"

CODE_REASON = "Truepenny runs from it"


def guarded_mounts(workspace: Path, code: Iterable[Path]) -> Iterator[Mount]:
    """Yield the mounts that come after the workspace's own. `code` is where we run from.

    Raises CouldNotRun where a symbolic link stands in a place that has to be held.
    """
    git = workspace / GIT
    kind = _kind(git)
    if kind == "folder":
        yield _same(git)
        if _kind(git / GIT_PLANTED):
            raise CouldNotRun(
                f"{git / GIT_PLANTED} sends git to settings elsewhere; git does not make it there",
                where="sandbox",
                remedy="Look at what it names before you run git here, and remove it.",
            )
        for name in (*GIT_NAMES, *GIT_MORE):
            if _kind(git / name) or name in GIT_NAMES:
                yield _held(git / name, GIT_REASON)
    elif kind:
        yield _held(git, "it names the folder of the repository")
    if _kind(workspace / OURS):
        yield _held(workspace / OURS, OURS_REASON)
    for path in code:
        if is_within(path, workspace) and path != workspace:
            above = [parent for parent in path.parents if is_within(parent, workspace)]
            yield from (_same(parent) for parent in reversed(above) if parent != workspace)
            yield Mount(Mode.READ, path, CODE_REASON, path, protected=True, deny=True)


def is_folder_name(path: Path) -> bool:
    """Whether a held path that is not there yet has to become a folder."""
    return path.name == "hooks"


def _kind(path: Path) -> str:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise CouldNotRun(
            f"{path} cannot be looked at: {error.strerror}",
            where="sandbox",
            remedy="Give this account the right to read the workspace.",
        ) from error
    if stat.S_ISLNK(mode):
        raise CouldNotRun(
            f"{path} is a symbolic link, so what git would run from there cannot be held",
            where="sandbox",
            remedy="Replace the link by what it points to; hooks elsewhere: `core.hooksPath`.",
        )
    return "folder" if stat.S_ISDIR(mode) else "file"


def _same(path: Path) -> Mount:
    return Mount(Mode.WRITE, path, "held in its place", path, required=True)


def _held(path: Path, reason: str) -> Mount:
    return Mount(Mode.READ, path, reason, path, deny=True)
