"""Which files a run was given and which it left: by identity and hash, before and after.

It is a record, not a barrier: that a run touched nothing else is nowhere said (tools spec 2.11).
What is looked at is held to the workspace at that very moment: a link that a run puts in a file's
place meanwhile tells nothing about files outside.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from truepenny.workspace.file.access import FileAccess
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.place import Need, find_place

HASH_BYTES = 64 * 1024 * 1024
"""A larger file is not hashed, and the reason is told (tools spec 2.11)."""

INPUTS_BYTES = 256 * 1024 * 1024
"""All inputs of a run that are hashed, together: half a second of work."""

_CHUNK = 1024 * 1024

_OMITTED = {
    "not_found": "absent",
    "is_directory": "not-a-file",
    "not_a_file": "not-a-file",
    "changed_meanwhile": "changed",
}

_NOTHING_THERE = ("not_found", "not_a_directory")

OutputStatus = Literal["created", "modified", "unchanged", "absent", "unknown"]


@dataclass(frozen=True, slots=True)
class Identity:
    """A file as it was at one moment; any change of content shows in one of these."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Identity:
        """Read it from what the system says."""
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Hashed:
    """A regular file with its hash, or why there is none: `too-large`, `cancelled`, `unreadable`,
    `changed` (while it was read), `not-a-file`, `absent`."""

    sha256: str | None = None
    omitted: str = ""
    identity: Identity | None = None

    @property
    def bytes(self) -> int | None:
        """Its size, None where that is unknown."""
        return None if self.identity is None else self.identity.size

    def record(self) -> dict[str, Any]:
        """Return it as the manifest writes it."""
        return {"bytes": self.bytes, "sha256": self.sha256, "hashOmitted": self.omitted or None}


def hash_file(access: FileAccess, path: Path, most: int = HASH_BYTES) -> Hashed:
    """Hash a regular file; never raises and never waits for a pipe. Slow: call it in a thread."""
    try:
        with find_place(access, str(path), Need.READ) as place:
            handle = place.open_file()
    except FileFault as fault:
        return Hashed(omitted=_OMITTED.get(fault.reason, "unreadable"))
    try:
        found = os.fstat(handle)
        identity = Identity.of(found)
        if found.st_size > most:
            return Hashed(omitted="too-large", identity=identity)
        digest, size = hashlib.sha256(), 0
        while data := os.read(handle, _CHUNK):
            size += len(data)
            if size > most:
                return Hashed(omitted="too-large", identity=identity)
            digest.update(data)
        if Identity.of(os.fstat(handle)) != identity:
            return Hashed(omitted="changed", identity=identity)
        return Hashed(digest.hexdigest(), identity=identity)
    except OSError:
        return Hashed(omitted="unreadable")
    finally:
        os.close(handle)


def hash_inputs(access: FileAccess, paths: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Return the manifest's entries for the inputs, by the names of the call."""
    left, entries = INPUTS_BYTES, list[dict[str, Any]]()
    for name, path in paths.items():
        hashed = hash_file(access, path, min(HASH_BYTES, left))
        if hashed.sha256 is not None:
            left -= hashed.bytes or 0
        entries.append({"path": name, **hashed.record()})
    return entries


def look(access: FileAccess, path: Path) -> Identity | FileFault | None:
    """Return what is at a path now; None where nothing is, the fault where that is not known or
    may not be."""
    try:
        with find_place(access, str(path), Need.READ) as place:
            return None if place.found is None else Identity.of(place.found)
    except FileFault as fault:
        return None if fault.reason in _NOTHING_THERE else fault


def compare(
    before: Identity | FileFault | None, after: Identity | FileFault | None
) -> OutputStatus:
    """Return what became of a declared output."""
    if isinstance(before, FileFault) or isinstance(after, FileFault):
        return "absent" if after is None else "unknown"
    if after is None:
        return "absent"
    if before is None:
        return "created"
    return "unchanged" if before == after else "modified"
