from __future__ import annotations

import errno

import click
import pytest

from truepenny.cli.failure import Finished, exit_code
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


def test_what_nobody_foresaw_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        exit_code(ZeroDivisionError())
