"""Reading and writing one file of the workspace, held to it whatever a running check swaps.

A check is somebody else's program and may still run while we look. So no path is opened as a
whole: each folder is entered from the one before it, no symbolic link is followed on the way, and
what was opened is looked at, not its name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from truepenny.sandbox.plan import Account
from truepenny.sandbox.roots import FileRoots, file_roots
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.atomic import storage_failed

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

NEW_FILE = 0o644
"""A baseline belongs to the project and is committed with it."""

NEW_FOLDER = 0o755


class NotInside(Exception):
    """A path cannot be used. `reason` is a machine word."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reach:
    """What a command could read: what we read for a check is nothing beyond it, also as root."""

    roots: FileRoots
    account: Account

    @classmethod
    def of(cls, sandbox: Sandbox) -> Reach:
        return cls(file_roots(sandbox.plan), sandbox.plan.account)

    def includes(self, path: Path, found: os.stat_result) -> bool:
        """Whether the plan shows the path and the file's mode lets the account read it."""
        if not self.roots.readable(path):
            return False
        if not self.account.drop:
            return True
        if found.st_uid == self.account.uid:
            return bool(found.st_mode & stat.S_IRUSR)
        if found.st_gid == self.account.gid:
            return bool(found.st_mode & stat.S_IRGRP)
        return bool(found.st_mode & stat.S_IROTH)


def resolve(root: Path, relative: str) -> PurePosixPath:
    """Return where a path below `root` really leads, relative to it; links inside are followed.

    Raises NotInside: `outside_workspace`, or `missing` for a link that leads nowhere.
    """
    if relative.startswith("/") or "\0" in relative:
        raise NotInside("outside_workspace", f"{relative!r} is not a path below the workspace")
    try:
        real = (root / relative).resolve(strict=False)
    except (OSError, RuntimeError):
        raise NotInside("missing", f"{relative!r} leads nowhere") from None
    if not real.is_relative_to(root):
        raise NotInside("outside_workspace", f"{relative!r} leads outside the workspace")
    return PurePosixPath(real.relative_to(root))


def read(root: Path, relative: str, most: int, reach: Reach | None = None) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Raises NotInside: `outside_workspace`, `missing`, `not_a_file`, `too_large`, `unreadable`,
    `out_of_reach` (no command could read it), `changed` (a link took the place of what was
    looked at).
    """
    where = resolve(root, relative)
    try:
        with _folder(root, where.parts[:-1]) as folder:
            handle = os.open(where.name or ".", _FILE, dir_fd=folder)
    except OSError as error:
        raise _fault(error, relative) from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise NotInside("not_a_file", f"{relative!r} is not a regular file")
        if reach is not None and not reach.includes(root / where, found):
            raise NotInside("out_of_reach", f"{relative!r} is nothing that a command may read")
        data = bytearray()
        while len(data) <= most and (piece := _piece(handle, most + 1 - len(data))):
            data += piece
    except OSError as error:
        raise _fault(error, relative) from None
    finally:
        os.close(handle)
    if len(data) > most:
        raise NotInside("too_large", f"{relative!r} has more than {most} bytes")
    return bytes(data)


def _piece(handle: int, most: int) -> bytes:
    return os.read(handle, min(most, 1024 * 1024))


def write(root: Path, relative: str, data: bytes) -> None:
    """Publish a file whole, making the folders on the way; no link is followed, the last neither.

    New things belong to whom the workspace belongs to. Raises NotInside, StorageFailed.
    """
    parts = PurePosixPath(relative).parts
    if not parts or relative.startswith("/") or ".." in parts or "\0" in relative:
        raise NotInside("outside_workspace", f"{relative!r} is not a path below the workspace")
    owner = root.stat()
    temporary = f".{parts[-1][:200]}.tmp-{secrets.token_hex(8)}"
    try:
        with _folder(root, parts[:-1], make_for=owner) as folder:
            try:
                _write(folder, temporary, data, owner)
                os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _fault(error, relative) from None
        raise storage_failed(error, relative, "Writing") from error


def _write(folder: int, name: str, data: bytes, owner: os.stat_result) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, NEW_FILE, dir_fd=folder)
    try:
        _give(handle, owner)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _give(handle: int, owner: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.fchown(handle, owner.st_uid, owner.st_gid)


@contextmanager
def _folder(
    root: Path, parts: tuple[str, ...], make_for: os.stat_result | None = None
) -> Generator[int]:
    """Enter one folder after the other. The root itself is ours to trust: it was resolved."""
    handle = os.open(root, _FOLDER)
    try:
        for part in parts:
            following = _enter(handle, part, make_for)
            os.close(handle)
            handle = following
        yield handle
    finally:
        os.close(handle)


def _enter(handle: int, part: str, make_for: os.stat_result | None) -> int:
    made = False
    if make_for is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, NEW_FOLDER, dir_fd=handle)
            made = True
    following = os.open(part, _FOLDER, dir_fd=handle)
    if made and make_for is not None:
        _give(following, make_for)
    return following


def _fault(error: OSError, relative: str) -> NotInside:
    if error.errno == errno.ENOENT:
        return NotInside("missing", f"{relative!r} does not exist")
    if error.errno == errno.ELOOP:
        return NotInside("changed", f"a symbolic link is on the way to {relative!r}")
    if error.errno == errno.ENOTDIR:
        # O_DIRECTORY meets a link before O_NOFOLLOW does, and says the same of a plain file.
        return NotInside("not_a_folder", f"a link or a file is on the way to {relative!r}")
    why = os.strerror(error.errno) if error.errno else str(error)
    return NotInside("unreadable", f"{relative!r} cannot be read: {why}")
