"""What an execution means: the one place where exit, signals and diagnostics become an `Outcome`.

The order is spec/diagnostics.md 5, for every program alike. What a program's own diagnostics mean
is data of the package that knows the program (`Marker`); nothing is concluded from its output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .ending import Cause, Leg, Outcome
from .execution import Execution, StartFault

NOT_FOUND_CODE = 127
NOT_EXECUTABLE_CODE = 126
"""What shells and wrappers answer for a program they cannot find, or cannot execute."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a line of a program's own diagnostics means.

    `pattern` is matched at the start of each line of standard error after a failure. With
    `only_without_output` it counts only when standard output is empty: a program that has
    answered was reached.
    """

    pattern: re.Pattern[str]
    outcome: Outcome
    reason: str
    leg: Leg | None = None
    only_without_output: bool = True


@dataclass(frozen=True, slots=True)
class Classification:
    """The meaning. `reason` is a machine word, empty where the outcome says all."""

    outcome: Outcome
    reason: str = ""
    leg: Leg | None = None
    line: str = ""
    """The diagnostic line that decided, if one did."""


_START = {
    StartFault.MISSING_PROGRAM: Outcome.MISSING_DEPENDENCY,
    StartFault.MISSING_INTERPRETER: Outcome.MISSING_DEPENDENCY,
    StartFault.NOT_EXECUTABLE: Outcome.NOT_EXECUTABLE,
    StartFault.MISSING_DIRECTORY: Outcome.INVALID_ARGUMENTS,
    StartFault.UNUSABLE_ARGUMENTS: Outcome.INVALID_ARGUMENTS,
    StartFault.SANDBOX: Outcome.CHANNEL_FAILED,
    StartFault.NO_RESOURCES: Outcome.INTERNAL_ERROR,
}


def classify(
    execution: Execution, markers: Sequence[Marker] = (), *, no_match_codes: Sequence[int] = ()
) -> Classification:
    """Return what it came to. The first marker that fits a line decides, in the order given.

    `no_match_codes` are the exit codes that mean "found nothing" for this program (grep's 1).
    """
    if execution.failure is not None:
        return Classification(_START[execution.failure.fault], execution.failure.fault.value)
    if execution.cause is Cause.OUTPUT_CAP:
        return Classification(Outcome.TRUNCATED, "output_cap")
    if execution.cause is not None:
        return Classification(Outcome.INTERRUPTED)
    stages = execution.exit.stages
    code = execution.exit.effective
    if code == 0:
        if stages is not None and any(stages[:-1]):
            return Classification(Outcome.UPSTREAM_FAILED)
        return Classification(Outcome.SUCCESS)
    if code is None:
        return Classification(Outcome.INTERRUPTED, "exit_unknown")
    marked = _marked(execution, markers)
    if marked is not None:
        return marked
    if code == NOT_FOUND_CODE:
        return Classification(Outcome.MISSING_DEPENDENCY)
    if code == NOT_EXECUTABLE_CODE:
        return Classification(Outcome.NOT_EXECUTABLE)
    if code in no_match_codes:
        return Classification(Outcome.NO_MATCH)
    return Classification(Outcome.TARGET_FAILED)


def _marked(execution: Execution, markers: Sequence[Marker]) -> Classification | None:
    lines = execution.stderr.text.splitlines()
    answered = execution.stdout.bytes.observed > 0
    for marker in markers:
        if marker.only_without_output and answered:
            continue
        for line in lines:
            if marker.pattern.match(line):
                return Classification(marker.outcome, marker.reason, marker.leg, line.strip())
    return None
