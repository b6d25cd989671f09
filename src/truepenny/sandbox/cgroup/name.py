"""Names of our groups: they say who made them, so that what a dead owner left is known by sight."""

from __future__ import annotations

import itertools
import os
import re

from truepenny.system.process_identity import Liveness, liveness, start_identity

_NAME = re.compile(r"truepenny-(\d+)-(\d+)-(\d+)-\d+")
_NUMBERS = itertools.count(1)


def new_name() -> str | None:
    """Return `truepenny-<pid>-<pid namespace>-<start>-<n>`; None where our start is unknown."""
    own = _own()
    if own is None:
        return None
    return f"truepenny-{os.getpid()}-{own[2]}-{own[3]}-{next(_NUMBERS)}"


def owner_is_dead(name: str) -> bool:
    """Whether it is a name of ours whose owner is proven dead. Control groups do not outlive a
    boot, so the owner was of this one."""
    match, own = _NAME.fullmatch(name), _own()
    if match is None or own is None:
        return False
    pid, namespace, start = match.groups()
    return liveness(int(pid), ":".join((*own[:2], namespace, start))) is Liveness.DEAD


def _own() -> tuple[str, ...] | None:
    """Return our start identity's parts: kind, boot, process namespace, start."""
    parts = (start_identity(os.getpid()) or "").split(":")
    return tuple(parts) if len(parts) == 4 and parts[2].isdecimal() else None
