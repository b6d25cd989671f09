from __future__ import annotations

import errno

import click
import pytest

from truepenny.cli.failure import DEBUG, Finished, exit_code
from truepenny.errors import (
    ConfigurationError,
    CouldNotRun,
    PolicyDenied,
    TruepennyError,
    UsageError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Finished(1), 1),
        (TruepennyError("x"), 1),
        (UsageError("x"), 2),
        (click.UsageError("x"), 2),
        (ConfigurationError("x"), 3),
        (PolicyDenied("x"), 4),
        (CouldNotRun("x"), 5),
        (OSError(errno.EROFS, "Read-only file system", "/state"), 5),
        (KeyboardInterrupt(), 130),
        (ExceptionGroup("g", [ExceptionGroup("h", [ConfigurationError("x")])]), 3),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(error) == code
    assert capsys.readouterr().out == ""


def test_message_place_and_remedy_are_all_said(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code(ConfigurationError("is not a number", where="run.max_turns", remedy="Give a number."))
    assert capsys.readouterr().err == (
        "truepenny: run.max_turns: is not a number\n  Give a number.\n"
    )


def test_a_defect_is_named_as_one_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(DEBUG, raising=False)
    assert exit_code(ZeroDivisionError("by \x1b[31mzero")) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: by zero" in said
    assert DEBUG in said
    monkeypatch.setenv(DEBUG, "1")
    with pytest.raises(ZeroDivisionError):
        exit_code(ZeroDivisionError())


def test_of_several_errors_the_one_for_a_person_is_said() -> None:
    group = ExceptionGroup("g", [ValueError("x"), CouldNotRun("disk")])
    assert exit_code(group) == 5
    assert exit_code(BaseExceptionGroup("g", [CouldNotRun("x"), KeyboardInterrupt()])) == 130
