"""The page about the contract names all that a case and a profile may say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from truepenny.conformance.case import Case, CaseFile, Expect, shipped
from truepenny.conformance.judge import Verdict
from truepenny.conformance.profile import Fields, Profile, Words, profiles

PAGE = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`\[?(\w+)\]?`", PAGE))


@pytest.mark.parametrize("kind", [Expect, Profile, Words, Fields, CaseFile])
def test_every_key_is_named(kind: type[Expect]) -> None:
    # What a shell server's output is called is the same word in a profile as in a case.
    assert set(kind.model_fields) - NAMED - {"format"} == set()


def test_every_key_of_a_case_is_named() -> None:
    own = set(Case.model_fields) - {"id", "title", "why", "level", "category"}
    assert own - NAMED == set()


def test_every_verdict_is_explained() -> None:
    assert all(f"| {str(one).replace('_', ' ')} |" in PAGE for one in Verdict)


def test_every_category_is_in_the_table_of_tools() -> None:
    rows = re.findall(r"^\| ([a-z]+) \| \d+ \|", PAGE, re.MULTILINE)
    assert rows == [one.category for one in shipped().categories] + ["all"]


def test_every_server_with_a_profile_was_measured() -> None:
    assert all(name in PAGE for name in profiles())
