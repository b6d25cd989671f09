"""Every way to end has a word, and only a good end is a success."""

from __future__ import annotations

import pytest

from truepenny.execute.ending import Cause, ExitFact
from truepenny.execute.execution import Execution, StartFailure, StartFault
from truepenny.workspace.verify.judgement import SCIENTIFIC, Ran, Validation, axes, axes_lines, ran

GOOD = ExitFact(observed=0, effective=0)


@pytest.mark.parametrize("fault", StartFault)
def test_what_never_began_is_unavailable(fault: StartFault) -> None:
    assert ran(Execution(failure=StartFailure(fault, "x", "x"))) is Ran.UNAVAILABLE


@pytest.mark.parametrize("cause", Cause)
def test_whatever_stopped_it_is_no_success(cause: Cause) -> None:
    assert ran(Execution(exit=GOOD, cause=cause)) not in (Ran.SUCCEEDED, Ran.UNKNOWN)


def test_exits() -> None:
    assert ran(Execution(exit=GOOD)) is Ran.SUCCEEDED
    assert ran(Execution(exit=ExitFact(observed=1, effective=1))) is Ran.FAILED
    assert ran(Execution()) is Ran.UNKNOWN


def test_no_word_stands_for_science() -> None:
    for word in Ran:
        for validation in Validation:
            assert axes(word, validation)["scientificValidity"] == SCIENTIFIC
            assert axes_lines(word, validation)[2].endswith(SCIENTIFIC)
