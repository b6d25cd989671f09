"""What can go wrong, named by the fact, each with the exit code a command ends with.

    TruepennyError                      1  the work failed
    ├── UsageError                      2  the command line is wrong
    ├── ConfigurationError              3  a setting, file or credential is wrong or missing
    ├── PolicyDenied                    4  a rule refused
    ├── CouldNotRun                     5  a needed program, file, disk or network is not there
    │   ├── StorageFailed                  a write did not reach the disk
    │   └── LockBusy                       somebody provably alive holds the lock
    └── (packages derive their own from these, never from Exception)

Model failures are not exceptions: they end a stream as a value (`truepenny.model.failure`).
Tool outcomes are not exceptions either: they are a `truepenny.tool.Result`.
Exit code 130 is for an interrupt from the keyboard.
"""

from __future__ import annotations


class TruepennyError(Exception):
    """Base of every error meant for a person: what happened, where, and what to do next.

    `remedy` is one sentence that can be acted on; `where` names the field, file or place.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  {self.remedy}" if self.remedy else text


class UsageError(TruepennyError):
    """The command line is wrong."""

    exit_code = 2


class ConfigurationError(TruepennyError):
    """A setting, file or credential is wrong or missing."""

    exit_code = 3


class PolicyDenied(TruepennyError):
    """A rule refused what was asked."""

    exit_code = 4


class CouldNotRun(TruepennyError):
    """Something outside that the work needs is not there; says nothing about the work itself."""

    exit_code = 5


class StorageFailed(CouldNotRun):
    """A write did not reach the disk (full, read-only, no permission)."""


class LockBusy(CouldNotRun):
    """A lock is held by an owner that is not proven dead."""
