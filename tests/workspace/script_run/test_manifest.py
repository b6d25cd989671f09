"""How a run's end is named, and that its manifest stays small enough to be swept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from truepenny.execute.ending import Cause, ExitFact
from truepenny.execute.execution import Execution, StartFailure, StartFault
from truepenny.workspace.script_run.manifest import (
    MANIFEST_BYTES,
    RunOutcome,
    effective_exit,
    encode,
    run_outcome,
)

ZERO, ONE = ExitFact(0, 0), ExitFact(1, 1)
FAILURE = StartFailure(StartFault.MISSING_PROGRAM, "julia", "there is no julia")


@pytest.mark.parametrize(
    ("execution", "around", "expected"),
    [
        (Execution(exit=ZERO), {}, RunOutcome.SUCCEEDED),
        (Execution(exit=ONE), {}, RunOutcome.FAILED),
        (Execution(cause=Cause.SIGNAL, exit=ExitFact(signal=9)), {}, RunOutcome.FAILED),
        (Execution(cause=Cause.OUTPUT_CAP, drained=False), {}, RunOutcome.FAILED),
        (Execution(exit=ZERO, survivors=(7,)), {}, RunOutcome.CLEANUP_INCOMPLETE),
        (Execution(failure=FAILURE, survivors=(7,)), {}, RunOutcome.SPAWN_FAILED),
        (Execution(failure=FAILURE), {"sink_problem": "full"}, RunOutcome.FAILED),
        (
            Execution(exit=ZERO, drained=False),
            {"sink_problem": "full"},
            RunOutcome.PIPE_DRAIN_INCOMPLETE,
        ),
        (Execution(cause=Cause.TIMEOUT, drained=False), {}, RunOutcome.TIMED_OUT),
        (None, {"sink_problem": "full"}, RunOutcome.ABORTED),
    ],
)
def test_the_first_that_holds_names_the_end(
    execution: Execution | None, around: dict[str, Any], expected: RunOutcome
) -> None:
    assert run_outcome(execution, **around) is expected


def test_a_leaders_zero_is_no_success_of_a_run_that_was_not_clean() -> None:
    assert effective_exit(ZERO, RunOutcome.SUCCEEDED) == ZERO
    assert effective_exit(ZERO, RunOutcome.CLEANUP_INCOMPLETE) == ExitFact(0, 1)
    assert effective_exit(ExitFact(3, 3), RunOutcome.PIPE_DRAIN_INCOMPLETE) == ExitFact(3, 3)
    assert effective_exit(ExitFact(signal=15), RunOutcome.TIMED_OUT) == ExitFact(signal=15)


def test_a_manifest_that_would_be_too_large_is_shortened_and_says_so() -> None:
    files = [{"path": f"{'d' * 500}{number}", "status": "absent"} for number in range(64)]
    large = {"argv": ["é" * 4096] * 130, "outputs": files, "inputs": files, "outcome": "failed"}
    data = encode(large)
    assert len(data) <= MANIFEST_BYTES
    got = json.loads(data)
    assert got["shortened"] is True
    assert got["argv"][-1] == "[114 more]"
    assert got["outcome"] == "failed"
    assert "shortened" not in json.loads(encode({"argv": ["x"]}))
