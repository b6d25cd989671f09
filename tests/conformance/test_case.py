"""The suite itself: well-formed, documented, and nothing in it that no driver looks at."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from truepenny.conformance.case import CASES, Expect, read_suite, shipped
from truepenny.errors import ConfigurationError

SUITE = shipped()


def expected(case: object) -> set[str]:
    expect = getattr(case, "expect")  # noqa: B009 - a case of any version
    return set(expect.model_dump(exclude_defaults=True))


def test_there_are_enough_cases_and_every_category_has_some() -> None:
    assert len(SUITE.cases) >= 150
    assert len({case.id for case in SUITE.cases}) == len(SUITE.cases)
    assert all(case.category for case in SUITE.cases)


def test_every_case_says_what_it_expects_and_why() -> None:
    for case in SUITE.cases:
        assert expected(case), case.id
        assert case.why.endswith((".", "?")), case.id
        assert case.title, case.id


def test_every_kind_of_expectation_is_used_by_some_case() -> None:
    used = {name for case in SUITE.cases for name in expected(case)}
    assert used == set(Expect.model_fields)


def test_reports_are_public_references() -> None:
    pattern = re.compile(r"[\w.-]+/[\w.-]+#\d+")
    assert all(pattern.fullmatch(one) for case in SUITE.cases for one in case.reports)


def test_processes_that_must_be_gone_can_be_found() -> None:
    for case in SUITE.cases:
        if case.expect.no_process_left:
            assert "@NAP@" in case.command, case.id


def test_no_secret_is_whole_in_a_file_or_a_command() -> None:
    texts = [path.read_text(encoding="utf-8") for path in CASES.glob("*.toml")]
    for case in SUITE.cases:
        for pieces in case.expect.secret_absent:
            assert len(pieces) > 1, case.id
            assert not any("".join(pieces) in text for text in texts), case.id


def test_cases_are_chosen_by_category_id_and_length() -> None:
    assert [case.id for case in SUITE.choose(ids=("exit-3", "exit-2")[1:])] == ["exit-2"]
    assert {case.category for case in SUITE.choose(categories=("nul",))} == {"nul"}
    assert not any(case.slow for case in SUITE.choose(slow=False))
    for choice in ({"categories": ("no-such",)}, {"ids": ("no-such",)}):
        with pytest.raises(ConfigurationError, match="no-such"):
            SUITE.choose(**choice)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("format = 1", "format = 2", "format"),
        ('id = "nul-first"', 'id = "nul-middle"', "twice"),
        ('category = "nul"', 'category = "zero"', "zero"),
        ("exit_code = 0", "exit_kode = 0", "exit_kode"),
        ("[[case]]", "[[case", "line"),
    ],
)
def test_a_file_that_says_something_else_is_refused(
    old: str, new: str, complaint: str, tmp_path: Path
) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(CASES, folder)
    path = folder / "nul.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=complaint):
        read_suite(folder)


def test_a_file_that_is_not_in_the_order_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(CASES, folder)
    (folder / "nul.toml").unlink()
    with pytest.raises(ConfigurationError, match="nul"):
        read_suite(folder)
