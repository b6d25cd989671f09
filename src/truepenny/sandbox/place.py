"""Places in the file system, looked at component by component and held by descriptor.

A sandboxed process of an earlier or a parallel run may turn any folder it can write into a
symbolic link, so no path below one is ever followed blindly: each component is opened without
following links, and what was found is kept open (O_PATH: no right to read comes with it) until
the mount is made. Bubblewrap before 0.12 follows such links while it sets up and creates files at
their other end (CVE-2026-87766); what it is handed here is already there and is no link.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from .syscall import call

_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

_NO_LINKS = 0x04
"""RESOLVE_NO_SYMLINKS: the kernel follows none, at no component."""

_HOW = struct.Struct("=QQQ")
"""struct open_how: flags, mode, what not to resolve."""

_FROM_HERE = -100
"""AT_FDCWD; an absolute path starts at the root whatever stands here."""


class NotAPlace(Exception):
    """Something on the way is a symbolic link or not a folder. The message names it."""


@dataclass(slots=True)
class Place:
    """A file or folder that is held open; `identity` tells it from one put there later."""

    path: Path
    descriptor: int
    identity: tuple[int, int]
    mode: int

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder; a link never is."""
        return stat.S_ISDIR(self.mode)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.descriptor)


def is_within(path: Path | str, folder: Path | str) -> bool:
    """Whether a path is the folder or below it, by its name. A plan asks this some thousand times,
    and pathlib's own takes ten times as long."""
    text, above = str(path), str(folder)
    return text == above or text.startswith(above if above == "/" else above + "/")


def lineage(path: Path) -> list[str]:
    """Return an absolute path and all that is above it, itself first, `/` last."""
    text = str(path)
    found = [text]
    while len(text) > 1:
        text = text[: text.rfind("/")] or "/"
        found.append(text)
    return found


def open_place(path: Path, start: int | None = None) -> Place:
    """Open an absolute path, or one relative to the folder `start`, through no symbolic link.

    Raises NotAPlace for a link (also as the last component) or a component that is no folder,
    FileNotFoundError where nothing is there, another OSError where it may not be looked at.
    """
    parts = [part for part in path.parts if part != "/"]
    if ".." in parts:
        raise NotAPlace(f"{path} leads upwards")
    found = _open_at_once("/".join(parts), start)
    return _walk(path, parts, start) if found is None else Place(path, *found)


def _open_at_once(path: str, start: int | None) -> tuple[int, tuple[int, int], int] | None:
    """Let the kernel look at each component (Linux 5.6); None where it will not, for any reason
    but that nothing is there: the walk then finds out and says what it is."""
    if "\0" in path or (start is not None and not path):
        return None
    text = ctypes.create_string_buffer(os.fsencode(path if start is not None else f"/{path}"))
    how = ctypes.create_string_buffer(_HOW.pack(_LOOK, 0, _NO_LINKS), _HOW.size)
    try:
        descriptor = call(
            "openat2",
            _FROM_HERE if start is None else start,
            ctypes.addressof(text),
            ctypes.addressof(how),
            _HOW.size,
        )
    except FileNotFoundError:
        raise
    except OSError:
        return None
    found = os.fstat(descriptor)
    if stat.S_ISLNK(found.st_mode):
        os.close(descriptor)
        return None
    return descriptor, (found.st_dev, found.st_ino), found.st_mode


def _walk(path: Path, parts: list[str], start: int | None) -> Place:
    here = os.open("/", _LOOK | os.O_DIRECTORY) if start is None else os.dup(start)
    try:
        for number, part in enumerate(parts):
            below = os.open(part, _LOOK, dir_fd=here)
            os.close(here)
            here = below
            mode = os.fstat(here).st_mode
            if stat.S_ISLNK(mode):
                raise NotAPlace(f"{Path(*path.parts[: number + 1 + (start is None)])} is a link")
            if number + 1 < len(parts) and not stat.S_ISDIR(mode):
                raise NotAPlace(f"{Path(*path.parts[: number + 1 + (start is None)])} is no folder")
        found = os.fstat(here)
    except BaseException:
        os.close(here)
        raise
    return Place(path, here, (found.st_dev, found.st_ino), found.st_mode)


def make_point(root: int, relative: Path, folder: bool, owner: tuple[int, int] | None) -> Place:
    """Open `relative` below the folder `root`, and create what of it is missing, through no link.

    It becomes a folder or an empty file, whatever is missing above it folders. `owner` (uid, gid)
    gets what is created; None leaves it ours. Raises NotAPlace for a link or the wrong kind.
    """
    here = os.dup(root)
    try:
        for number, part in enumerate(relative.parts):
            last = number + 1 == len(relative.parts)
            where = Path(*relative.parts[: number + 1])
            below = _look_or_make(here, part, not last or folder, owner)
            os.close(here)
            here = below
            mode = os.fstat(here).st_mode
            if stat.S_ISLNK(mode):
                raise NotAPlace(f"{where} is a link")
            if stat.S_ISDIR(mode) != (not last or folder):
                raise NotAPlace(f"{where} is {'a' if stat.S_ISDIR(mode) else 'no'} folder")
        found = os.fstat(here)
    except BaseException:
        os.close(here)
        raise
    return Place(relative, here, (found.st_dev, found.st_ino), found.st_mode)


def _look_or_make(here: int, name: str, folder: bool, owner: tuple[int, int] | None) -> int:
    try:
        return os.open(name, _LOOK, dir_fd=here)
    except FileNotFoundError:
        pass
    try:
        if folder:
            os.mkdir(name, 0o755, dir_fd=here)
            made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        else:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
            made = os.open(name, flags, 0o644, dir_fd=here)
    except FileExistsError:
        pass  # Somebody was quicker; whatever it is, it is looked at like anything found.
    else:
        # By descriptor, and a folder only while it is ours and empty: what stands there by now
        # may be something else that a parallel run moved in.
        try:
            if owner is not None and (not folder or _fresh(made)):
                os.fchown(made, *owner)
        finally:
            os.close(made)
    return os.open(name, _LOOK, dir_fd=here)


def _fresh(folder: int) -> bool:
    return os.fstat(folder).st_uid == os.geteuid() and not os.listdir(folder)


def reason(error: OSError | NotAPlace) -> str:
    """Return one phrase for people."""
    if isinstance(error, NotAPlace):
        return str(error)
    if error.errno == errno.ENOENT:
        return "it is not there"
    return error.strerror or str(error)
