"""From an account of a process to facts: every number adds up, every fact has its line."""

from __future__ import annotations

import pytest

from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.execute.capture import Captured
from truepenny.execute.ending import ByteCounts, Cause, ExitFact, Leg, Outcome
from truepenny.execute.execution import Execution, Offloaded, StartFailure, StartFault
from truepenny.execute.outcome import Classification, classify
from truepenny.sandbox.level import Containment, Level
from truepenny.text.decode import BadBytes
from truepenny.tool.process_facts import (
    View,
    not_contained,
    not_started,
    process_facts,
    remarks,
)
from truepenny.tool.result import NEVER_RAN

SUCCESS = Classification(Outcome.SUCCESS)
ZERO = ExitFact(0, 0)


def wrote(size: int) -> Captured:
    return Captured(bytes=ByteCounts(size, size), lines=1)


@pytest.mark.parametrize(
    ("observed", "view", "file", "expected"),
    [
        (10, View(10, 10, 1, 1), None, ByteCounts(10, 10)),
        (10, View(4, 10, 1, 2, True), None, ByteCounts(10, 4, 6)),
        (10, View(4, 10, 1, 2, True), Offloaded("f", 10), ByteCounts(10, 4, 0, 6, "f")),
        # The file was cut: what is neither in it nor shown is gone.
        (10, View(4, 10, 1, 2, True), Offloaded("f", 7, False), ByteCounts(10, 4, 3, 3, "f")),
        (10, View(4, 10, 1, 2, True), Offloaded("f", 0, False, "x"), ByteCounts(10, 4, 6)),
        # Masks and escapes make the text longer or shorter than the bytes.
        (10, View(40, 40, 1, 1), None, ByteCounts(10, 10)),
        (10, View(5, 40, 1, 1, True), None, ByteCounts(10, 0, 10)),
        (100, View(5, 40, 1, 1, True), None, ByteCounts(100, 65, 35)),
    ],
)
def test_bytes_add_up(
    observed: int, view: View, file: Offloaded | None, expected: ByteCounts
) -> None:
    execution = Execution(exit=ZERO, stdout=wrote(observed), offloaded=file)
    got = process_facts(execution, SUCCESS, view).bytes
    assert got == expected
    assert got.observed == got.kept + got.discarded + got.offloaded


@pytest.mark.parametrize(
    ("execution", "cut", "state", "reason"),
    [
        (Execution(exit=ZERO), False, "complete", ""),
        (Execution(exit=ZERO), True, "partial", "some of the output is left out"),
        (Execution(cause=Cause.TIMEOUT), False, "partial", "stopped at the time limit"),
        (
            Execution(cause=Cause.OUTPUT_CAP, drained=False),
            True,
            "partial",
            "stopped at the limit of output; some is left out",
        ),
        (
            Execution(exit=ZERO, drained=False),
            True,
            "unknown",
            "a process it left behind kept the output open",
        ),
    ],
)
def test_completeness(execution: Execution, cut: bool, state: str, reason: str) -> None:
    whole = process_facts(execution, SUCCESS, View(1, 2, 3, 4, cut, "more")).completeness
    assert (whole.state, whole.reason) == (state, reason)
    if state == "partial":
        # Nobody knows how much more a stopped process would have written.
        assert whole.total == (None if execution.cause else 4)


def test_every_fact_that_matters_has_a_line() -> None:
    execution = Execution(
        exit=ZERO,
        leftovers=2,
        survivors=(71, 72),
        drained=False,
        stdout=Captured(bad_bytes=(BadBytes(3, b"\xff", 1),), bad_count=1, controls=2),
        stderr=Captured(bad_bytes=(BadBytes(0, b"\xfe", 1),), bad_count=1),
        offloaded=Offloaded("/f", 9, False, "No space left on device"),
        remarks=("there is no bash here",),
        containment=Containment(Level.BWRAP, account="nobody", network="none"),
    )
    said = "\n".join(remarks(execution))
    for words in (
        "2 processes left behind",
        "71, 72",
        "kept the output open",
        "1 byte is not UTF-8, the first at 3",
        "1 byte of standard error is not UTF-8, the first at 0",
        "2 control characters",
        "/f has the first 9 bytes",
        "No space left",
        "there is no bash here",
    ):
        assert words in said
    facts = process_facts(execution, SUCCESS, View(0, 0, 0, 0), detail={"own": 1})
    assert facts.notes == remarks(execution)
    assert facts.sandbox == "bwrap"
    assert facts.containment["account"] == "nobody"
    assert facts.detail["leftovers"] == 2
    assert facts.detail["survivors"] == [71, 72]
    assert facts.detail["drained"] is False
    assert facts.detail["controls"] == 2
    assert facts.detail["bad_bytes"] == [{"offset": 3, "hex": "ff"}, {"offset": 0, "hex": "fe"}]
    assert facts.detail["own"] == 1


def test_a_kill_for_memory_within_a_run_that_went_on_is_a_note_and_no_end() -> None:
    facts = process_facts(Execution(exit=ZERO, memory_kill=True), SUCCESS, View(0, 0, 0, 0))
    assert facts.notes == ("the kernel ended a process of this run for memory",)
    assert facts.detail["memory_kill"] is True
    ended = Execution(cause=Cause.MEMORY, memory_kill=True)
    assert remarks(ended) == ()  # Its completeness says so already.


def test_a_sentence_is_said_once() -> None:
    execution = Execution(exit=ZERO, remarks=("there is no bash here",))
    facts = process_facts(execution, SUCCESS, View(0, 0, 0, 0), notes=("there is no bash here",))
    assert facts.notes == ("there is no bash here",)


def test_nothing_special_is_no_line() -> None:
    assert remarks(Execution(exit=ZERO)) == ()


def test_what_never_ran_has_no_exit_and_says_nothing_of_its_target() -> None:
    failure = StartFailure(StartFault.SANDBOX, "bash", "the namespace was refused")
    execution = Execution(failure=failure)
    done = not_started(execution, classify(execution), "ls")
    assert done.outcome is Outcome.CHANNEL_FAILED
    assert done.text == "the namespace was refused"
    assert done.facts.leg is Leg.NAMESPACE_ENTRY
    assert done.facts.exit is None
    assert done.facts.completeness == NEVER_RAN
    assert "streams" not in done.facts.detail


@pytest.mark.parametrize(
    ("fault", "level", "hint"),
    [
        (StartFault.MISSING_PROGRAM, Level.BWRAP, "install it for the whole machine"),
        (StartFault.MISSING_PROGRAM, Level.NONE, "install it, or name one"),
        (StartFault.MISSING_INTERPRETER, Level.NONE, "correct the first line of the script"),
    ],
)
def test_a_program_that_is_not_there_comes_with_what_to_do(
    fault: StartFault, level: Level, hint: str
) -> None:
    failure = StartFailure(fault, "julia", "there is no julia")
    execution = Execution(failure=failure, containment=Containment(level))
    assert not_started(execution, classify(execution), "julia x").facts.hint.startswith(hint)


@pytest.mark.parametrize("kind", [ConfigurationError, CouldNotRun])
def test_no_sandbox_is_a_channel_that_failed(
    kind: type[ConfigurationError | CouldNotRun],
) -> None:
    done = not_contained(kind("no user namespaces", where="sandbox", remedy="Allow them."), "ls")
    assert done.outcome is Outcome.CHANNEL_FAILED
    assert done.facts.hint == "Allow them."
    assert done.facts.completeness == NEVER_RAN
    assert done.text == "sandbox: no user namespaces"
    assert done.facts.command == "ls"


def test_a_long_command_is_told_in_part() -> None:
    facts = process_facts(Execution(exit=ZERO), SUCCESS, View(0, 0, 0, 0), command="x" * 5000)
    assert len(facts.command) <= 1024
    assert "missing here" in facts.command


def test_uncounted_processes_are_told_in_text_and_fact() -> None:
    facts = process_facts(Execution(exit=ZERO, leftovers=None), SUCCESS, View(0, 0, 0, 0))
    assert facts.detail["leftovers"] is None
    assert any("uncounted" in note for note in facts.notes)
