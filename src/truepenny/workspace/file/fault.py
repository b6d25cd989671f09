"""Why a file could not be used, as words; and the result that says so."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from truepenny.errors import TruepennyError
from truepenny.model.message import Text
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import NEVER_RAN, Completeness, Facts, Json, Result

_WORDS = {
    errno.EACCES: "no_permission",
    errno.EPERM: "no_permission",
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_a_directory",
    errno.ELOOP: "link_circle",
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "file_size_limit",
    errno.EROFS: "read_only_file_system",
    errno.ENAMETOOLONG: "name_too_long",
    errno.EMFILE: "no_resources",
    errno.ENFILE: "no_resources",
    errno.ENOMEM: "no_resources",
}


_FAILED = Completeness("unknown", "it could not be done")
"""Of a call that looked at files and came to nothing: what was not allowed or did not fit never
began, this did."""

_NOT_BEGUN = (Outcome.REFUSED, Outcome.INVALID_ARGUMENTS)


class FileFault(TruepennyError):
    """The file cannot be used by this call; nothing of it was changed.

    `reason` is a machine word, `hint` what to do instead, `detail` further facts.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        hint: str = "",
        *,
        outcome: Outcome = Outcome.TARGET_FAILED,
        detail: dict[str, Json] | None = None,
    ) -> None:
        super().__init__(message, remedy=hint)
        self.reason = reason
        self.hint = hint
        self.outcome = outcome
        self.detail = detail or {}

    def result(self) -> Result:
        """Return it as the result of the call."""
        state = NEVER_RAN if self.outcome in _NOT_BEGUN else _FAILED
        facts = Facts(completeness=state, reason=self.reason, hint=self.hint, detail=self.detail)
        return Result(self.outcome, (Text(self.message),), facts)


def refused_place(reason: str, message: str, hint: str = "", **detail: Json) -> FileFault:
    """Return the fault of a rule of ours."""
    return FileFault(reason, message, hint, outcome=Outcome.REFUSED, detail=detail)


def invalid_path(reason: str, message: str, hint: str = "", **detail: Json) -> FileFault:
    """Return the fault of an argument that does not fit what is there."""
    return FileFault(reason, message, hint, outcome=Outcome.INVALID_ARGUMENTS, detail=detail)


def changed(path: Path) -> FileFault:
    """Return the fault of a place that is not any more what was checked."""
    return FileFault(
        "changed_meanwhile",
        f"{path} was changed by somebody else during this call",
        "look at it again",
    )


def failure(error: OSError, path: Path, doing: str) -> FileFault:
    """Return the system's answer as a fault."""
    number = error.errno or 0
    reason = _WORDS.get(number, "system_error")
    text = os.strerror(number) if number else str(error)
    ours = reason == "no_resources"
    outcome = Outcome.INTERNAL_ERROR if ours else Outcome.TARGET_FAILED
    return FileFault(reason, f"{doing} {path} failed: {text}", outcome=outcome)
