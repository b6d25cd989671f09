"""The bubblewrap that is installed: its version, what it can do, and its known faults."""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import dataclass

from truepenny.sandbox.trusted import ENVIRONMENT, find

NAME = "bwrap"
SECONDS = 10.0
"""It answers in milliseconds."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A published fault and the first version without it."""

    name: str
    fixed: tuple[int, ...]
    what: str


LINKS = "CVE-2026-87766"

FAULTS = (
    Fault(
        LINKS,
        (0, 12),
        "follows a symbolic link above a mount point while it sets up; every mount point is "
        "checked and made beforehand, so only a parallel run in the same folder could use it",
    ),
)


@dataclass(frozen=True, slots=True)
class BwrapProgram:
    """`version` is empty where it could not be read: then no fault is ruled out.

    `binds_descriptors` says that it mounts what a descriptor holds and refuses a source that was
    swapped meanwhile (0.10, and Debian's 0.8). `forbids_namespaces` says that no further user
    namespace can be made inside (0.8); `sizes_folders` that a folder in memory can have a limit.
    """

    path: str
    version: tuple[int, ...]
    binds_descriptors: bool
    forbids_namespaces: bool
    sizes_folders: bool

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The known faults of this version; of an unknown one, all."""
        return tuple(fault for fault in FAULTS if self.version < fault.fixed)

    def __str__(self) -> str:
        version = ".".join(map(str, self.version)) or "of unknown version"
        return f"bubblewrap {version}"


_VERSION = re.compile(r"bubblewrap (\d+(?:\.\d+)+)\s*$")
"""All that it prints: a loader's complaint has numbers too."""


@functools.cache
def installed() -> BwrapProgram | None:
    """Return the one that is installed, or None. Asked once for each process of ours."""
    path = find(NAME)
    if path is None:
        return None
    version = _VERSION.match(_answer(path, "--version"))
    usage = _answer(path, "--help")
    return BwrapProgram(
        path,
        tuple(map(int, version[1].split("."))) if version else (),
        binds_descriptors="--ro-bind-fd" in usage and "--bind-fd" in usage,
        forbids_namespaces="--disable-userns" in usage,
        sizes_folders="--size" in usage,
    )


def _answer(path: str, option: str) -> str:
    try:
        done = subprocess.run(
            [path, option],
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")
