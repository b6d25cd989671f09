"""What a self-check is and what it can answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from truepenny.config.load import Loaded
from truepenny.errors import TruepennyError
from truepenny.system.directories import Directories


class Level(StrEnum):
    """How it stands. `unknown` is an answer of its own: it could not be found out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    SKIP = "skip"
    """There was nothing to look at."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer. `remedy` says what to do and is never empty for warn and fail."""

    level: Level
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What checks look at. `loaded` is an error where the settings could not be read."""

    directories: Directories
    env: Mapping[str, str]
    loaded: Loaded | TruepennyError


@dataclass(frozen=True, slots=True)
class Check:
    """A check by name. `run` may raise: a raised error is `unknown`, never a pass."""

    name: str
    title: str
    run: Callable[[Surroundings], Awaitable[list[Finding]]]


@dataclass(frozen=True, slots=True)
class Checked:
    """A check with what it found."""

    name: str
    title: str
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst level found; a check that found nothing is unknown."""
        order = (Level.FAIL, Level.UNKNOWN, Level.WARN, Level.OK, Level.SKIP)
        levels = {finding.level for finding in self.findings}
        return next((level for level in order if level in levels), Level.UNKNOWN)


def ok(detail: str) -> list[Finding]:
    """Return one good finding."""
    return [Finding(Level.OK, detail)]


def warn(detail: str, remedy: str) -> list[Finding]:
    """Return one finding that does not stop work."""
    return [Finding(Level.WARN, detail, remedy)]


def fail(detail: str, remedy: str) -> list[Finding]:
    """Return one finding that stops work."""
    return [Finding(Level.FAIL, detail, remedy)]


def skip(detail: str, remedy: str = "") -> list[Finding]:
    """Return one finding for what does not apply here."""
    return [Finding(Level.SKIP, detail, remedy)]


def unknown(detail: str, remedy: str = "") -> list[Finding]:
    """Return one finding for what could not be found out."""
    return [Finding(Level.UNKNOWN, detail, remedy)]
