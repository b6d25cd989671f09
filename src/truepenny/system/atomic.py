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
        found = _existing(target)
    except OSError as error:
        raise storage_failed(error, path, "Writing") from error
    temporary = target.parent / f".{target.name[:200]}.tmp-{secrets.token_hex(8)}"
    wanted = mode if mode is not None else PRIVATE if found is None else stat.S_IMODE(found.st_mode)
    try:
        _write(temporary, data, wanted, found)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise storage_failed(error, path, "Writing") from error
        raise
    warning = sync_directory(target.parent)
    return Published(target, not warning, warning)


def _existing(target: Path) -> os.stat_result | None:
    try:
        found = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISLNK(found.st_mode):  # `realpath` gives up on a circle and returns the link
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return found


def _write(temporary: Path, data: bytes, mode: int, found: os.stat_result | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, PRIVATE)
    try:
        if found is not None and (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
            # Before the mode: a change of owner clears the set-id bits.
            with contextlib.suppress(PermissionError):
                os.fchown(handle, found.st_uid, found.st_gid)
        os.fchmod(handle, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_directory(directory: Path) -> str:
    """Sync the names in a directory; return why it could not be done, or nothing."""
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
