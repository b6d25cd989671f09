"""What an execution means: the one place where exit, signals and diagnostics become an `Outcome`.

The order is spec/diagnostics.md 5, for every program alike. What a program's own diagnostics mean
is data of the package that knows the program (`Marker`); nothing is concluded from its output.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from truepenny.sandbox.level import Level

from .ending import Cause, Leg, Outcome
from .execution import Execution, StartFault

SIGNAL_BASE = 128
"""What shells and bubblewrap add to the number of the signal that ended a program."""

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
    execution: Execution,
    markers: Sequence[Marker] = (),
    *,
    no_match_codes: Sequence[int] = (),
    shell: bool = False,
) -> Classification:
    """Return what it came to. The first marker that fits a line decides, in the order given.

    `no_match_codes` are the exit codes that mean "found nothing" for this program (grep's 1), the
    last one of a pipeline. `shell` says that a shell reports how its programs ended.
    """
    if execution.failure is not None:
        fault = execution.failure.fault
        leg = Leg.NAMESPACE_ENTRY if fault is StartFault.SANDBOX else None
        return Classification(_START[fault], fault.value, leg)
    if execution.cause is Cause.OUTPUT_CAP:
        return Classification(Outcome.TRUNCATED, "output_cap")
    if execution.cause is Cause.SIGNAL and execution.exit.signal == signal.SIGPIPE:
        return Classification(Outcome.TRUNCATED, "broken_pipe")
    if execution.cause is not None:
        return Classification(Outcome.INTERRUPTED)
    code = execution.exit.effective
    stages = execution.exit.stages
    if stages and stages[-1] == 0:
        failed = any(
            status for index, status in enumerate(stages) if index not in execution.excused
        )
        return Classification(Outcome.UPSTREAM_FAILED if failed else Outcome.SUCCESS)
    if stages:
        code = stages[-1]
    if code == 0:
        return Classification(Outcome.SUCCESS)
    if code is None:
        return Classification(Outcome.INTERRUPTED, "exit_unknown")
    reports = shell or execution.containment.level is Level.BWRAP
    if reports and code == SIGNAL_BASE + signal.SIGPIPE:
        return Classification(Outcome.TRUNCATED, "broken_pipe")
    marked = _marked(execution, markers)
    if marked is not None:
        return marked
    if code == NOT_FOUND_CODE:
        return Classification(Outcome.MISSING_DEPENDENCY)
    if code == NOT_EXECUTABLE_CODE:
        return Classification(Outcome.NOT_EXECUTABLE)
    if code in no_match_codes:
        return Classification(Outcome.NO_MATCH)
    return Classification(Outcome.TARGET_FAILED, _reported(code) if reports else "")


def _reported(code: int) -> str:
    """A shell's or sandbox's code for a signal; the program may as well have returned it itself."""
    number = code - SIGNAL_BASE
    return f"exit_{code}_or_signal_{number}" if 0 < number < signal.NSIG else ""


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
