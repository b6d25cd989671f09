"""Reading numbers: what JSON says, what is flagged, and what is refused with its place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.verify import numeric_value
from truepenny.workspace.verify.numeric_value import (
    MAX_KEY,
    MAX_KEYS,
    MAX_LITERAL,
    Unreadable,
    elements,
    read_numbers,
    read_output,
)

NUMBER = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False))
KEY = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TABLE = st.dictionaries(KEY, st.one_of(NUMBER, st.lists(NUMBER, max_size=5)), max_size=5)


@given(TABLE, st.booleans(), st.sampled_from([None, 2]))
def test_it_reads_what_json_reads(value: dict[str, Any], ascii_only: bool, indent: int) -> None:
    table = read_numbers(json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    assert list(table) == list(value)
    for key, wanted in value.items():
        found, single = table[key], not isinstance(wanted, list)
        assert found.single is single
        listed: list[Any] = [wanted] if single else wanted
        assert list(found.values) == list(map(float, listed))
        rounded = {n: str(one) for n, one in enumerate(listed) if _rounded(one)}
        assert found.literals == rounded


def _rounded(value: float) -> bool:
    return isinstance(value, int) and int(float(value)) != value


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_output(text)
    except Unreadable as problem:
        assert 0 <= problem.offset <= len(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_json"),
        ("[1]", "not_json"),
        ("{", "not_json"),
        ('{"a"}', "not_json"),
        ('{"a": 1,}', "not_json"),
        ("{'a': 1}", "not_json"),
        ('{"a": 1} x', "not_json"),
        ('{"\\ud800": 1}', "not_json"),
        (f'{{"{"k" * MAX_KEY}": 1}}', "not_json"),
        ('{"a": 01}', "not_json"),
        ('{"a": [1 2]}', "not_json"),
        ('{"a": 1, "a": 1}', "duplicate_key"),
        ('{"a": "1"}', "not_a_number"),
        ('{"a": true}', "not_a_number"),
        ('{"a": null}', "not_a_number"),
        ('{"a": {"b": 1}}', "not_a_number"),
        ('{"a": [[1]]}', "not_a_number"),
        ('{"a": [1,]}', "not_a_number"),
        ('{"a": .5}', "not_a_number"),
        (f'{{"a": {"1" * (MAX_LITERAL + 1)}}}', "number_too_long"),
        (json.dumps({str(n): 1 for n in range(MAX_KEYS + 1)}), "too_many_keys"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_numbers(text)
    assert caught.value.reason == reason


def test_the_number_of_elements_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric_value, "MAX_ELEMENTS", 10)
    assert elements(read_numbers(json.dumps({"a": [1] * 9, "b": 1}))) == 10
    with pytest.raises(Unreadable, match="more than 10 numbers"):
        read_numbers(json.dumps({"a": [1] * 9, "b": [1, 1]}))


def test_numbers_that_are_not_finite_are_read_bare_and_as_text() -> None:
    table = read_numbers('{"a": [NaN, Infinity, -Infinity, "NaN", "Infinity", "-Infinity"]}')
    values = table["a"].values
    assert [math.isnan(value) for value in values] == [True, False, False] * 2
    assert list(values[1:3]) == [math.inf, -math.inf] == list(values[4:6])
    assert table["a"].literals == {}


def test_the_object_may_stand_amidst_other_output() -> None:
    assert read_output(' {"a": 1}\n')[1] is True
    table, whole = read_output('step {1}\nmore\n{"a": 1}\ndone\n'.replace("{1}", "1"))
    assert (list(table), whole) == (["a"], False)
    with pytest.raises(Unreadable):
        read_output('step {1}\n{"a": 1}\n')
    with pytest.raises(Unreadable):
        read_output("no numbers here")
