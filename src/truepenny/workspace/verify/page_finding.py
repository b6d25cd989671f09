"""What the look at a web page's files can say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Of one aspect of one file."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"
    """Not looked at; the message says why. Never counts as passed."""


class Aspect(StrEnum):
    """What was looked at."""

    TAGS = "tags"
    STYLE = "style"
    REFERENCES = "references"
    SCRIPT = "script"
    BROWSER = "browser"


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer about one file. `line` counts from 1, 0 for the file as a whole."""

    file: str
    aspect: Aspect
    status: Status
    message: str
    line: int = 0

    def to_json(self) -> dict[str, object]:
        return {
            "file": self.file, "aspect": str(self.aspect), "status": str(self.status),
            "line": self.line or None, "message": self.message,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that a page or a style names, as written."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong inside one text."""

    line: int
    message: str
    status: Status = Status.FAIL
