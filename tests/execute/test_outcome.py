"""What an execution means, decided on facts and in the documented order."""

from __future__ import annotations

import re

import pytest

from truepenny.execute.capture import Captured
from truepenny.execute.ending import ByteCounts, Cause, ExitFact, Leg, Outcome
from truepenny.execute.execution import Execution, StartFailure, StartFault
from truepenny.execute.outcome import Marker, classify
from truepenny.sandbox.level import Containment, Level

UNREACHED = Marker(re.compile(r"no route"), Outcome.CHANNEL_FAILED, "transport", Leg.TRANSPORT)
FLAG = Marker(
    re.compile(r"unknown flag"), Outcome.INVALID_ARGUMENTS, "flag", only_without_output=False
)


def ended(code: int | None, out: str = "", err: str = "", **changes: object) -> Execution:
    return Execution(
        exit=ExitFact(
            observed=code,
            effective=changes.get("effective", code),  # type: ignore[arg-type]
            signal=changes.get("signal"),  # type: ignore[arg-type]
            stages=changes.get("stages"),  # type: ignore[arg-type]
        ),
        excused=changes.get("excused", ()),  # type: ignore[arg-type]
        containment=Containment(changes.get("level", Level.NONE)),  # type: ignore[arg-type]
        cause=changes.get("cause"),  # type: ignore[arg-type]
        stdout=Captured(out, ByteCounts(len(out), len(out))),
        stderr=Captured(err, ByteCounts(len(err), len(err))),
    )


@pytest.mark.parametrize(
    ("execution", "outcome"),
    [
        (ended(0, "error: failed"), Outcome.SUCCESS),
        (ended(0, err="FAILED"), Outcome.SUCCESS),
        (ended(1), Outcome.TARGET_FAILED),
        (ended(127), Outcome.MISSING_DEPENDENCY),
        (ended(126), Outcome.NOT_EXECUTABLE),
        (ended(None, cause=Cause.TIMEOUT), Outcome.INTERRUPTED),
        (ended(0, cause=Cause.TIMEOUT), Outcome.INTERRUPTED),
        (ended(None, cause=Cause.SIGNAL), Outcome.INTERRUPTED),
        (ended(None, cause=Cause.OUTPUT_CAP), Outcome.TRUNCATED),
        (ended(None), Outcome.INTERRUPTED),
        (ended(0, stages=(1, 0)), Outcome.UPSTREAM_FAILED),
        (ended(0, stages=(0, 0)), Outcome.SUCCESS),
        # The last stage decides; an earlier one only where the last succeeded.
        (ended(1, stages=(1, 0)), Outcome.UPSTREAM_FAILED),
        (ended(127, stages=(127, 0)), Outcome.UPSTREAM_FAILED),
        (ended(2, stages=(3, 2)), Outcome.TARGET_FAILED),
        (ended(127, stages=(0, 127)), Outcome.MISSING_DEPENDENCY),
        (ended(126, stages=(1, 126)), Outcome.NOT_EXECUTABLE),
        (ended(141, effective=0, stages=(141, 0), excused=(0,)), Outcome.SUCCESS),
        (ended(141, stages=(141, 0)), Outcome.UPSTREAM_FAILED),
        (ended(3, stages=(141, 3, 0), excused=(0,)), Outcome.UPSTREAM_FAILED),
        # Ended from outside goes before any code.
        (ended(0, stages=(1, 0), cause=Cause.TIMEOUT), Outcome.INTERRUPTED),
        (ended(137, cause=Cause.MEMORY), Outcome.INTERRUPTED),
        (ended(None, cause=Cause.ABORT), Outcome.INTERRUPTED),
        (ended(0, cause=Cause.OUTPUT_CAP), Outcome.TRUNCATED),
        (ended(None, signal=13, cause=Cause.SIGNAL), Outcome.TRUNCATED),
        # 141 is a program's own code unless something that reports signals stands between.
        (ended(141), Outcome.TARGET_FAILED),
        (ended(141, level=Level.BWRAP), Outcome.TRUNCATED),
        (ended(141, level=Level.LANDLOCK), Outcome.TARGET_FAILED),
    ],
)
def test_the_meaning_of_an_end(execution: Execution, outcome: Outcome) -> None:
    assert classify(execution).outcome is outcome


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (StartFault.MISSING_PROGRAM, Outcome.MISSING_DEPENDENCY),
        (StartFault.MISSING_INTERPRETER, Outcome.MISSING_DEPENDENCY),
        (StartFault.NOT_EXECUTABLE, Outcome.NOT_EXECUTABLE),
        (StartFault.MISSING_DIRECTORY, Outcome.INVALID_ARGUMENTS),
        (StartFault.UNUSABLE_ARGUMENTS, Outcome.INVALID_ARGUMENTS),
        (StartFault.NO_RESOURCES, Outcome.INTERNAL_ERROR),
        (StartFault.SANDBOX, Outcome.CHANNEL_FAILED),
    ],
)
def test_the_meaning_of_a_failed_start(fault: StartFault, outcome: Outcome) -> None:
    meaning = classify(Execution(failure=StartFailure(fault, "x", "x")))
    assert (meaning.outcome, meaning.reason) == (outcome, fault.value)
    assert (meaning.leg is Leg.NAMESPACE_ENTRY) == (fault is StartFault.SANDBOX)


def test_a_code_that_means_nothing_found() -> None:
    assert classify(ended(1), no_match_codes=(1,)).outcome is Outcome.NO_MATCH
    assert classify(ended(2), no_match_codes=(1,)).outcome is Outcome.TARGET_FAILED


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (137, "exit_137_or_signal_9"),
        (143, "exit_143_or_signal_15"),
        (128, ""),
        (255, ""),
        (3, ""),
    ],
)
def test_a_code_that_may_be_a_signal_is_called_both(code: int, reason: str) -> None:
    assert classify(ended(code), shell=True).reason == reason
    assert classify(ended(code, level=Level.BWRAP)).reason == reason
    assert classify(ended(code)).reason == ""


def test_markers_are_read_at_line_starts_of_diagnostics_only() -> None:
    meaning = classify(ended(1, err="note\nno route to host\n"), (UNREACHED,))
    assert (meaning.outcome, meaning.leg) == (Outcome.CHANNEL_FAILED, Leg.TRANSPORT)
    assert meaning.line == "no route to host"
    quoted = classify(ended(1, err="app said: no route to host\n"), (UNREACHED,))
    assert quoted.outcome is Outcome.TARGET_FAILED
    assert classify(ended(0, err="no route"), (UNREACHED,)).outcome is Outcome.SUCCESS


def test_what_has_answered_was_reached() -> None:
    assert classify(ended(1, "data", "no route"), (UNREACHED,)).outcome is Outcome.TARGET_FAILED
    assert classify(ended(1, "data", "unknown flag"), (FLAG,)).outcome is Outcome.INVALID_ARGUMENTS
