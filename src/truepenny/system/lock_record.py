"""The record in a lock file or a ticket, how it is published whole, and the proof of death."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import socket
import uuid
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from .atomic import PRIVATE, storage_failed
from .clock import timestamp
from .process_identity import Liveness, liveness, start_identity

CANDIDATE = ".candidate-"
"""Between a lock's name and a UUID: the file that becomes the lock by a hard link."""

MAX_NAMES = 128
"""Fresh candidate names that are tried when creating one is interrupted."""

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True, slots=True)
class LockRecord:
    """Who holds a lock. `nonce` is the proof of ownership, never a number that can come again."""

    pid: int
    process_start: str | None
    hostname: str
    nonce: str
    created_at: str
    purpose: str
    run_id: str = ""

    @classmethod
    def mine(cls, purpose: str, run_id: str = "") -> LockRecord:
        """Return a new record of this process."""
        pid = os.getpid()
        return cls(
            pid,
            start_identity(pid),
            socket.gethostname(),
            secrets.token_hex(16),
            timestamp(datetime.now(UTC)),
            purpose,
            run_id,
        )

    def encode(self) -> bytes:
        """Return the one JSON line that stands in the file."""
        return json.dumps(asdict(self), ensure_ascii=False).encode("utf-8") + b"\n"

    @property
    def proven_dead(self) -> bool:
        """Same host, and the process is gone or its number belongs to a later one.

        Never by age. Another host, or a liveness that cannot be told, is not a proof.
        """
        if self.hostname != socket.gethostname():
            return False
        return liveness(self.pid, self.process_start) is Liveness.DEAD

    def describe(self) -> str:
        """Return the owner in words, for an error message."""
        return f"process {self.pid} on {self.hostname} ({self.purpose}, since {self.created_at})"


def decode_record(data: bytes) -> LockRecord | None:
    """Read a record; None for anything that is not exactly one."""
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not data.endswith(b"\n"):
        return None
    fields = cast("dict[str, Any]", value)
    start = fields.get("process_start")
    pid = fields.get("pid")
    words = [fields.get(name) for name in ("hostname", "nonce", "created_at", "purpose")]
    run_id = fields.get("run_id", "")
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return None
    if not (start is None or isinstance(start, str)) or not isinstance(run_id, str):
        return None
    if not all(isinstance(word, str) for word in words):
        return None
    hostname, nonce, created_at, purpose = cast("list[str]", words)
    return LockRecord(pid, start, hostname, nonce, created_at, purpose, run_id)


def read_bytes(path: Path) -> bytes | None:
    """Return the content of a lock file, None where there is none; raises StorageFailed."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise storage_failed(error, path, "Reading the lock") from error


def publish_record(path: Path, record: LockRecord) -> bool:
    """Put a record at `path` if nothing is there; return whether it was put.

    The name appears with the whole record in it, by a hard link. Where the file system has no hard
    links the name is created exclusively and filled; a reader may then see a part, which is an
    unknown owner and never stolen. Raises StorageFailed.
    """
    data = record.encode()
    try:
        candidate = _write_candidate(path, data)
    except FileNotFoundError as error:
        raise storage_failed(error, path, "Taking the lock") from error
    except OSError as error:
        raise storage_failed(error, path, "Taking the lock") from error
    try:
        os.link(candidate, path)
    except (FileExistsError, FileNotFoundError):
        # A network file system repeats a request whose answer was lost, and then reports the link
        # that it has just made as one that was there already.
        return _is_linked(candidate)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return _publish_exclusively(path, data)
        raise storage_failed(error, path, "Taking the lock") from error
    finally:
        # One that cannot be removed is left for the sweep: the lock itself is taken.
        with contextlib.suppress(OSError):
            candidate.unlink()
    return True


def _is_linked(candidate: Path) -> bool:
    """Whether the candidate has a second name: only the lock can be that."""
    try:
        return candidate.stat().st_nlink == 2
    except OSError:
        return False


def _write_candidate(path: Path, data: bytes) -> Path:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    for _ in range(MAX_NAMES):
        candidate = path.with_name(f"{path.name}{CANDIDATE}{uuid.uuid4()}")
        try:
            handle = os.open(candidate, flags, PRIVATE)
        except InterruptedError:  # it may exist or not: that name is given up
            continue
        try:
            _fill(handle, data)
        except BaseException:
            with contextlib.suppress(OSError):
                candidate.unlink()
            raise
        return candidate
    raise OSError(errno.EINTR, os.strerror(errno.EINTR))


def _publish_exclusively(path: Path, data: bytes) -> bool:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(path, flags, PRIVATE)
    except FileExistsError:
        return False
    except OSError as error:
        raise storage_failed(error, path, "Taking the lock") from error
    try:
        _fill(handle, data)
    except BaseException as error:
        # A part of a record is an owner that nobody can prove dead.
        with contextlib.suppress(OSError):
            path.unlink()
        if isinstance(error, OSError):
            raise storage_failed(error, path, "Taking the lock") from error
        raise
    return True


def _fill(handle: int, data: bytes) -> None:
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)
