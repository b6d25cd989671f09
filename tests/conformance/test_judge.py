"""Every expectation can pass, can fail, and, where a tool may be silent, can be not told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from truepenny.conformance.case import Case, Expect
from truepenny.conformance.judge import Outside, Verdict, judge, verdict
from truepenny.conformance.observed import Observed

PASSED, FAILED, NOT_TOLD = Verdict.PASSED, Verdict.FAILED, Verdict.NOT_TOLD

# Name, value, an observation that meets it, one that does not, one that does not say.
TOLD: list[tuple[str, Any, Observed, Observed, Observed | None]] = [
    ("exit_code", 3, Observed(exit_code=3), Observed(exit_code=0), Observed()),
    ("signal", 15, Observed(signal=15), Observed(signal=9), Observed()),
    ("signal", 15, Observed(exit_code=143), Observed(exit_code=0), None),
    ("signal", 15, Observed(exit_code=-15), Observed(exit_code=15), None),
    ("failure_told", True, Observed(exit_code=1), Observed(exit_code=0), Observed()),
    ("failure_told", True, Observed(flagged=True), Observed(flagged=False), None),
    ("failure_told", True, Observed(exit_code=0, stage_failure=True), Observed(exit_code=0), None),
    ("failure_told", False, Observed(exit_code=0), Observed(timed_out=True, exit_code=0), None),
    ("flagged", False, Observed(flagged=False), Observed(flagged=True), Observed()),
    ("timed_out", True, Observed(timed_out=True), Observed(timed_out=False), Observed()),
    ("interrupted", True, Observed(interrupted=True), Observed(interrupted=False), Observed()),
    ("truncated", False, Observed(truncated=False), Observed(truncated=True), Observed()),
    ("whole_or_told", 3, Observed("abc"), Observed("a", truncated=False), Observed("a")),
    ("whole_or_told", 3, Observed("a", truncated=True), Observed("a", truncated=False), None),
    (
        "stage_failure",
        True,
        Observed(stage_failure=True),
        Observed(stage_failure=False),
        Observed(),
    ),
    ("output_contains", ("a",), Observed("[x]", output="a"), Observed("a", output="b"), None),
    ("output_lacks", ("a",), Observed(output="b"), Observed(output="a"), None),
    ("output_order", ("a", "b"), Observed("a b"), Observed("b a"), None),
    ("output_empty", True, Observed("[x]", output=""), Observed(output="a"), Observed("a")),
    ("stdout_contains", ("a",), Observed(stdout="ab"), Observed(stdout="b"), Observed("a")),
    ("stderr_contains", ("a",), Observed(stderr="ab"), Observed(stderr="b"), Observed("a")),
    ("text_contains", ("a",), Observed("a"), Observed("b", output="a"), None),
    ("text_contains_any", ("A", "z"), Observed("a"), Observed("b"), None),
    ("text_lacks", ("a",), Observed("b"), Observed("a"), None),
    ("text_at_most", 3, Observed("éa"), Observed("éé"), None),
    ("bytes_written", 3, Observed(bytes_written=3), Observed(bytes_written=2), Observed()),
    ("undecodable_told", True, Observed(r"a\xff"), Observed(undecodable=False), Observed("\ufffd")),
    ("secret_absent", (("a", "b"),), Observed("a b"), Observed("xaby"), None),
    ("secret_absent", (("a", "b"),), Observed("a"), Observed(other='{"k": "ab"}'), None),
    ("controls_absent", True, Observed("a\tb\n"), Observed("a\x1b[31m"), None),
    ("controls_absent", True, Observed("café 漢字 😀"), Observed("a\u202eb"), None),
    ("sandbox_told", True, Observed(sandbox="none"), Observed(), None),
]

OUTSIDE: list[tuple[str, Any, Outside, Outside]] = [
    ("ended_within", 2.0, Outside(1.9), Outside(2.1)),
    ("no_process_left", True, Outside(0), Outside(0, ("sleep 60.5",))),
    ("usable_after", True, Outside(0, usable=True), Outside(0, usable=False)),
]


def case(**expect: Any) -> Case:
    return Case(id="c", title="t", why="w", command="true", expect=Expect(**expect))


def found(one: Case, seen: Observed | None, outside: Outside | None = None) -> Verdict:
    return verdict(judge(one, seen, outside or Outside(0.1)))


@pytest.mark.parametrize(("name", "value", "right", "wrong", "silent"), TOLD)
def test_what_a_tool_says(
    name: str, value: Any, right: Observed, wrong: Observed, silent: Observed | None
) -> None:
    one = case(**{name: value})
    assert found(one, right) is PASSED
    assert found(one, wrong) is (NOT_TOLD if name == "sandbox_told" else FAILED)
    if silent is not None:
        assert found(one, silent) is NOT_TOLD


@pytest.mark.parametrize(("name", "value", "right", "wrong"), OUTSIDE)
def test_what_the_driver_sees(name: str, value: Any, right: Outside, wrong: Outside) -> None:
    one = case(**{name: value})
    assert found(one, Observed(), right) is PASSED
    assert found(one, Observed(), wrong) is FAILED
    # Taken back, a call has no answer: what is seen from outside is judged all the same.
    assert found(one, None, wrong) is FAILED


def test_files_are_looked_at(tmp_path: Path) -> None:
    outside = Outside(0, work=tmp_path)
    present, absent = case(files_present=("made",)), case(files_absent=("made",))
    assert (found(present, Observed(), outside), found(absent, Observed(), outside)) == (
        FAILED,
        PASSED,
    )
    (tmp_path / "made").touch()
    assert (found(present, Observed(), outside), found(absent, Observed(), outside)) == (
        PASSED,
        FAILED,
    )


@pytest.mark.parametrize(
    ("text", "verdict_"),
    [
        ("[outcome target_failed | exit 3 | 0.01 s]", PASSED),
        ("Command exited with code 3", PASSED),
        ('{"return_code": 3}', PASSED),
        ("exit status: 13", FAILED),
        ("3 files", FAILED),
        ("", FAILED),
    ],
)
def test_a_code_is_a_number_that_is_called_one(text: str, verdict_: Verdict) -> None:
    assert found(case(exit_code=3, exit_in_text=True), Observed(text, exit_code=3)) is verdict_


def test_every_expectation_is_tried_here() -> None:
    tried = {name for name, *_ in TOLD} | {name for name, *_ in OUTSIDE}
    tried |= {"files_present", "files_absent", "exit_in_text"}
    assert tried == set(Expect.model_fields)


def test_no_answer_fails_whatever_was_expected() -> None:
    findings = judge(case(exit_code=0), Observed(died="connection closed"), Outside(0.1))
    assert [(one.expectation, one.verdict) for one in findings] == [("answer", FAILED)]


def test_wrong_beats_silent_beats_right() -> None:
    one = case(exit_code=0, flagged=False, timed_out=False)
    assert found(one, Observed(exit_code=1, flagged=False)) is FAILED
    assert found(one, Observed(exit_code=0, flagged=False)) is NOT_TOLD
    assert found(one, Observed(exit_code=0, flagged=False, timed_out=False)) is PASSED


def test_a_report_never_shows_a_secret_or_a_control_character() -> None:
    findings = judge(
        case(secret_absent=(("to", "ken"),), output_contains=("x",)),
        Observed("token \x1b[31m" + "y" * 10_000),
        Outside(0.1),
    )
    secret = next(one for one in findings if one.expectation == "secret_absent")
    assert "token" not in secret.expected + secret.observed
    assert all(one.observed.isprintable() and len(one.observed) < 300 for one in findings)
