"""Publish a file whole or not at all, and say whether it would survive a power cut.

Order: write a private temporary file beside the target, sync it, rename it over the target, sync
the directory. A reader sees the old or the new content, never a part.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from truepenny.errors import StorageFailed

PRIVATE = 0o600
"""Mode of a file that did not exist before and for which no mode is given."""

_REMEDIES = {
    errno.ENOSPC: "Free some space on this file system and try again.",
    errno.EDQUOT: "The disk quota is used up; free some space or raise it.",
    errno.EROFS: "The file system is read-only; choose another place (TRUEPENNY_HOME).",
    errno.EACCES: "Give this user write permission here, or choose another place (TRUEPENNY_HOME).",
    errno.EPERM: "Give this user write permission here, or choose another place (TRUEPENNY_HOME).",
    errno.ENOENT: "Create the directory first.",
    errno.ENOTDIR: "A file stands where a directory is needed; move it away.",
    errno.EISDIR: "A directory stands where the file is to be; move it away.",
    errno.ELOOP: "The symbolic links here lead in a circle; remove them.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}

# Where the system has it, a descriptor that only names the directory: it needs no right to list it.
_NAME_ONLY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC

_NO_DIRECTORY_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Published:
    """A file that is in place. `path` is the real file, behind symbolic links.

    `durable` says that content and name were synced; otherwise `warning` says why not.
    """

    path: Path
    durable: bool
    warning: str


def storage_failed(error: OSError, path: Path | str, doing: str) -> StorageFailed:
    """Turn an operating system error into the fact and what to do about it."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    remedy = _REMEDIES.get(error.errno or 0, "")
    return StorageFailed(f"{doing} failed: {reason}", where=str(path), remedy=remedy)


def publish(path: Path | str, data: bytes, *, mode: int | None = None) -> Published:
    """Write `data` as the whole content of `path`.

    A symbolic link stays a link and its target is replaced. The mode of an existing file is kept
    unless `mode` is given, and its owner where this process may set it. Raises StorageFailed; then
    the old content stands and no temporary file is left.
    """
    try:
        target = Path(os.path.realpath(path, strict=False))
        directory = os.open(target.parent, _NAME_ONLY)
        try:
            warning = publish_at(directory, target.name, data, mode=mode)
        finally:
            os.close(directory)
    except OSError as error:
        raise storage_failed(error, path, "Writing") from error
    return Published(target, not warning, warning)


def publish_at(
    directory: int,
    name: str,
    data: bytes,
    *,
    mode: int | None = None,
    created: int | None = None,
    before: Callable[[], None] = lambda: None,
) -> str:
    """Write `data` as the whole content of `name` in an open directory; no link is followed.

    Mode and owner are as with `publish`; `created` is the mode of a new file, less the umask, and
    then its owner is the directory's where we are root. `before` is called right before the new
    content takes the place; what it raises stops that. Returns why the name is not synced, or
    nothing. Raises OSError; then the old content stands and no temporary file is left.
    """
    found = _existing(directory, name)
    shown = os.fsdecode(os.fsencode(name)[:200])  # a name has at most 255 bytes
    temporary = f".{shown}.tmp-{secrets.token_hex(8)}"
    wanted, owner = mode, None
    if found is not None:
        wanted = stat.S_IMODE(found.st_mode) if mode is None else mode
        owner = found
    elif created is not None:
        owner = os.fstat(directory) if os.geteuid() == 0 else None
    elif mode is None:
        wanted = PRIVATE
    try:
        _write(directory, temporary, data, wanted, created, owner)
        before()
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    return _sync(".", directory)


def _existing(directory: int, name: str) -> os.stat_result | None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISLNK(found.st_mode):  # `realpath` gives up on a circle and returns the link
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return found


def _write(
    directory: int,
    name: str,
    data: bytes,
    mode: int | None,
    created: int | None,
    owner: os.stat_result | None,
) -> None:
    new = PRIVATE if mode is not None or created is None else created
    if _write_unnamed(directory, name, data, mode, new, owner):
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, new, dir_fd=directory)
    try:
        _fill(handle, data, mode, owner)
    finally:
        os.close(handle)


def _write_unnamed(
    directory: int, name: str, data: bytes, mode: int | None, new: int, owner: os.stat_result | None
) -> bool:
    """Write a file that gets its name once it is whole, so that a kill amidst it leaves nothing;
    False where the file system or the machine cannot do that."""
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        handle = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, new, dir_fd=directory)
    except OSError:
        return False  # Where the reason is another, opening by name meets it too, and says it.
    try:
        _fill(handle, data, mode, owner)
        try:
            os.link(f"/proc/self/fd/{handle}", name, dst_dir_fd=directory, follow_symlinks=True)
        except OSError:
            return False
    finally:
        os.close(handle)
    return True


def _fill(handle: int, data: bytes, mode: int | None, owner: os.stat_result | None) -> None:
    if owner is not None and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
        # Before the mode: a change of owner clears the set-id bits.
        with contextlib.suppress(PermissionError):
            os.fchown(handle, owner.st_uid, owner.st_gid)
    if mode is not None:
        os.fchmod(handle, mode)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    os.fsync(handle)


def sync_directory(directory: Path) -> str:
    """Sync the names in a directory; return why it could not be done, or nothing."""
    return _sync(directory, None)


def _sync(path: Path | str, directory: int | None) -> str:
    try:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        handle = os.open(path, flags, dir_fd=directory)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if error.errno in _NO_DIRECTORY_SYNC:
            return f"the directory cannot be synced here ({reason})"
        return f"syncing the directory failed ({reason})"
    return ""
