from __future__ import annotations

import pytest

from truepenny.sandbox.bwrap.status import verdict
from truepenny.sandbox.confinement import NotStarted, Refused

THERE = b'{ "child-pid": 42, "pid-namespace": 4026532181 }\n'
ENDED = b'{ "exit-code": 1 }\n'


def test_a_program_that_ended_had_started() -> None:
    assert verdict(THERE + ENDED, 1, "bwrap: execvp x: No such file or directory\n") is None


@pytest.mark.parametrize("records", [b"", THERE, b"[1]\n7\n" + THERE + b'{ "exit-co'])
def test_a_start_ended_by_a_signal_proves_nothing(records: bytes) -> None:
    assert verdict(records, None, "") is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("execvp x: No such file or directory", Refused.MISSING),
        ("execvp x: Permission denied", Refused.NOT_EXECUTABLE),
        ("execvp x: Exec format error", Refused.NOT_EXECUTABLE),
        ("Can't find source path /x: No such file or directory", Refused.SANDBOX),
        ("Can't chdir to /x: No such file or directory", Refused.DIRECTORY),
        ("setting up uid map: Permission denied", Refused.SANDBOX),
    ],
)
def test_its_own_line_says_what_failed(line: str, why: Refused) -> None:
    found = verdict(THERE, 1, f"bwrap: Only the last --chdir option counts\nbwrap: {line}\n")
    assert found is not None
    assert found.why is why


def test_without_a_line_the_code_is_told() -> None:
    assert verdict(b"", 3, "") == NotStarted(Refused.SANDBOX, "exit code 3, no message")


def test_the_words_before_it_are_told_by_their_own_line() -> None:
    found = verdict(b"", 1, "setpriv: setresuid failed: Operation not permitted\nmore\n")
    assert found == NotStarted(
        Refused.SANDBOX, "setpriv: setresuid failed: Operation not permitted"
    )


def test_a_message_is_bounded() -> None:
    found = verdict(b"", 1, "bwrap: " + "x" * 10_000)
    assert found is not None
    assert len(found.message) == 500
