"""Checks of the machine: interpreter, directories, disk, locks, containment. All probe for real."""

from __future__ import annotations

import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from truepenny.system.atomic import publish
from truepenny.system.lock import Lock

from .check import Finding, Level, Surroundings, fail, ok, warn

OLDEST_PYTHON = (3, 11)

SCARCE_BYTES, LOW_BYTES = 50 * 1024**2, 1024**3
"""Below the first a session may not fit any more; below the second a busy day's do not."""

HOME_REMEDY = "Set TRUEPENNY_HOME to a directory that can be written."


async def python(around: Surroundings) -> list[Finding]:
    """The interpreter is one that we are tested on."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return fail(f"{version} is too old", "Use Python 3.11 or newer.")
    return ok(f"{version} at {sys.executable}")


def _roles(around: Surroundings) -> Mapping[str, Path]:
    places = around.directories
    return {"config": places.config, "state": places.state, "cache": places.cache}


async def writable(around: Surroundings) -> list[Finding]:
    """A file can be made in each directory, or in the nearest one above that exists."""
    return [_tried(role, path) for role, path in _roles(around).items()]


def _tried(role: str, path: Path) -> Finding:
    there = next(parent for parent in (path, *path.parents) if parent.exists())
    suffix = "" if there == path else f" (will be made in {there})"
    probe = there / f".truepenny-probe-{secrets.token_hex(4)}"
    try:
        with probe.open("xb"):
            pass
        probe.unlink()
    except OSError as error:
        detail = f"{role} {path}: {error.strerror}"
        level = Level.FAIL if role == "state" else Level.WARN
        return Finding(level, detail, HOME_REMEDY)
    return Finding(Level.OK, f"{role} {path}{suffix}")


async def space(around: Surroundings) -> list[Finding]:
    """There is room for transcripts."""
    state = around.directories.state
    there = next(parent for parent in (state, *state.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    detail = f"{free / 1024**2:,.0f} MiB free for {state}"
    if free < SCARCE_BYTES:
        return fail(detail, "Free some space, or set TRUEPENNY_HOME to another disk.")
    if free < LOW_BYTES:
        return warn(detail, "Free some space before long.")
    return ok(detail)


def _scratch(around: Surroundings) -> Iterator[Path]:
    """Yield a place for one file in the state directory, made and removed again as needed."""
    state = around.directories.state
    made = [path for path in (state, *state.parents) if not path.exists()]
    state.mkdir(parents=True, exist_ok=True)
    probe = state / f".doctor-{secrets.token_hex(4)}"
    try:
        yield probe
    finally:
        for leftover in state.glob(f"{probe.name}*"):
            leftover.unlink(missing_ok=True)
        for path in made:
            with suppress(OSError):  # Somebody else has put something there meanwhile.
                path.rmdir()


async def durability(around: Surroundings) -> list[Finding]:
    """A published file and its name are synced to the disk."""
    findings: list[Finding] = []
    for probe in _scratch(around):
        done = publish(probe, b"probe")
        if done.durable:
            findings += ok("file and directory are synced")
        else:
            findings += warn(done.warning, "Keep TRUEPENNY_HOME on a local disk.")
    return findings


async def locking(around: Surroundings) -> list[Finding]:
    """A lock can be taken and given back (hard links work, the boot id is readable)."""
    findings: list[Finding] = []
    for probe in _scratch(around):
        async with Lock(probe, purpose="doctor"):
            findings += ok("taken and released")
    return findings
