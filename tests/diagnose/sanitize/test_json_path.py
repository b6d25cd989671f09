"""The paths that take parts out of a value: an exact grammar, and nothing that computes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.sanitize.json_path import (
    ALL,
    MAX_STEPS,
    BadPath,
    line_of,
    parse_path,
    select,
    written,
)

VALUE: dict[str, Any] = {
    "items": [{"name": "a", "n": 1, "tags": ["x", "y"]}, {"name": "b"}],
    "a key": {"with.dot": True},
    "null": None,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", [VALUE]),
        ("", [VALUE]),
        (".items[0].name", ["a"]),
        ("items[0].name", ["a"]),
        (".items[-1].name", ["b"]),
        (".items[].name", ["a", "b"]),
        (".items[*].name", ["a", "b"]),
        (".items.[0].name", ["a"]),
        (".items[].n", [1, None]),
        (".items[0].tags[]", ["x", "y"]),
        (".items[].tags[0]", ["x", None]),
        ('["a key"]["with.dot"]', [True]),
        ('.["a key"]', [{"with.dot": True}]),
        (".null", [None]),
    ],
)
def test_what_a_path_leads_to(path: str, found: list[Any]) -> None:
    assert list(select(VALUE, parse_path(path))) == found


@pytest.mark.parametrize(
    "path",
    [
        ".items[?(@.n>0)]",
        ".items[0:1]",
        ".items[0,1]",
        "..name",
        ".*",
        ".items | length",
        ".items[(1)]",
        "$.items",
        "{.items}",
        ".items[",
        ".items[1",
        '.["a',
        '.["\\x"]',
        ".a b",
        ".a.",
        ".-a",
        ".items[x]",
        "@",
        ".a" * (MAX_STEPS + 1),
        "." + "a" * 5000,
    ],
)
def test_what_is_no_path_is_refused_not_ignored(path: str) -> None:
    with pytest.raises(BadPath):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".nope", "it has: items, a key, null"),
        (".items.name", "is a list, no object"),
        (".items[2]", "has 2 items, no [2]"),
        (".items[0].name[]", "is a string, no list"),
        (".null.x", "is null, no object"),
    ],
)
def test_where_it_leads_nowhere_it_says_why(path: str, why: str) -> None:
    with pytest.raises(BadPath, match="json_path: ") as told:
        list(select(VALUE, parse_path(path)))
    assert why in str(told.value)


_steps = st.lists(
    st.one_of(st.integers(-99, 99), st.just(ALL), st.tuples(st.just("key"), st.text(max_size=8))),
    max_size=MAX_STEPS,
)


@given(_steps)
def test_a_path_is_read_as_it_is_written(steps: list[Any]) -> None:
    assert list(parse_path(written(steps))) == steps


def test_one_result_is_one_line() -> None:
    assert [line_of(value) for value in ("a b", None, True, {"a": [1]})] == [
        "a b\n",
        "null\n",
        "true\n",
        '{"a":[1]}\n',
    ]
