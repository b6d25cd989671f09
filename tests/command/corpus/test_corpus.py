"""Both corpora: nothing hostile passes, nothing honest is refused, every hint passes."""

from __future__ import annotations

import pytest

from truepenny.command.check import Admitted, check
from truepenny.command.program.load import programs
from truepenny.command.refusal import Refusal

from .generate import HERE, honest, hostile, read, written

SMALLEST = 1500


@pytest.mark.parametrize(("name", "cases"), [("honest.txt", honest), ("hostile.txt", hostile)])
def test_the_files_are_what_the_generator_makes(name: str, cases: object) -> None:
    assert callable(cases)
    assert (HERE / name).read_text(encoding="utf-8") == written(cases())
    assert len(read(name)) >= SMALLEST


def test_no_honest_line_is_refused() -> None:
    judged = [(case, check(case[1], case[0])) for case in read("honest.txt")]
    assert [(case, found) for case, found in judged if isinstance(found, Refusal)] == []


def test_no_hostile_line_is_accepted() -> None:
    judged = [(case, check(case[1], case[0])) for case in read("hostile.txt")]
    assert [case for case, found in judged if isinstance(found, Admitted)] == []


def test_every_hint_passes_itself() -> None:
    hints = 0
    for context, line in read("hostile.txt"):
        found = check(line, context)
        if isinstance(found, Refusal) and found.hint:
            hints += 1
            assert isinstance(check(found.hint, context), Admitted), (line, found.hint)
    assert hints > 500


def test_every_program_has_an_honest_line() -> None:
    used: set[str] = set()
    for context, line in read("honest.txt"):
        found = check(line, context)
        if isinstance(found, Admitted):
            used.update(found.programs)
    # Spellings of one grammar are one program.
    grammars = {id(programs()[name].grammar) for name in used}
    assert {p.name for p in programs().values() if id(p.grammar) not in grammars} == set()
