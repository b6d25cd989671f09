"""The three words of a check: did it run, did it pass, and what that says about science.

They are never folded into one (tools spec 2.10). A check that did not end well is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from truepenny.execute.ending import Cause, Outcome
from truepenny.execute.execution import Execution

SCIENTIFIC = "not established by this check"
"""Whether the numbers mean what somebody concludes from them is nothing that a check can see."""


class Ran(StrEnum):
    """What became of the process."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"
    """It never began."""
    TIMED_OUT = "timed-out"
    ABORTED = "aborted"
    OUTPUT_CAPPED = "output-capped"
    UNKNOWN = "unknown"
    """It ended and nobody could observe how."""


class Validation(StrEnum):
    """What the judgement came to."""

    PASSED = "passed"
    FAILED = "failed"
    EXIT_CODE = "exit-code"
    """Nothing is judged beyond the exit status: what the status says is all there is."""
    NOT_RUN = "not-run"


_BY_CAUSE = {
    Cause.TIMEOUT: Ran.TIMED_OUT,
    Cause.ABORT: Ran.ABORTED,
    Cause.OUTPUT_CAP: Ran.OUTPUT_CAPPED,
    Cause.SIGNAL: Ran.FAILED,
    Cause.MEMORY: Ran.FAILED,
}


def ran(execution: Execution) -> Ran:
    """Return the word for an execution."""
    if execution.failure is not None:
        return Ran.UNAVAILABLE
    if execution.cause is not None:
        return _BY_CAUSE[execution.cause]
    if execution.exit.effective is None:
        return Ran.UNKNOWN
    return Ran.SUCCEEDED if execution.exit.effective == 0 else Ran.FAILED


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one kind of check says of a run that ended well.

    `outcome` is that of the whole call; `reason` a machine word. `lines` are read by the model,
    `detail` goes to `Facts.detail` beside the three words.
    """

    validation: Validation
    outcome: Outcome
    reason: str = ""
    lines: tuple[str, ...] = ()
    detail: dict[str, Any] = field(default_factory=dict[str, Any])


def axes(execution: Ran, validation: Validation) -> dict[str, str]:
    """Return the three words as they stand in `Facts.detail`."""
    return {
        "execution": str(execution),
        "validation": str(validation),
        "scientificValidity": SCIENTIFIC,
    }


def axes_lines(execution: Ran, validation: Validation, why: str = "") -> tuple[str, ...]:
    """Return the three words as the model reads them."""
    return (
        f"execution: {execution}",
        f"validation: {validation}" + (f" ({why})" if why else ""),
        f"scientific validity: {SCIENTIFIC}",
    )
