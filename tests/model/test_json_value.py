from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.json_value import count, decode, encode, mapping, mend, sequence, text

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_encode_and_decode_agree_with_the_standard_library(value: object) -> None:
    written = encode(value)
    assert json.loads(written) == json.loads(json.dumps(value))
    assert decode(written) == json.loads(written)


@given(st.text(st.characters()))
def test_any_string_can_be_written(value: str) -> None:
    assert isinstance(json.loads(encode({"key": [value, (value,)]})), dict)


def test_half_a_surrogate_pair_is_made_visible() -> None:
    assert json.loads(encode({"\ud83d": "a\udc00"})) == {"\\ud83d": "a\\udc00"}
    assert mend("\ud83d\ude00") == "😀"
    assert mend("a\ud83d") == "a\\ud83d"


@pytest.mark.parametrize(
    "bad", [b"", b"{", b"{}x", b'{"a":NaN}', b'"\xff"', b"[" * 100_000, b"Infinity", b'{"a":1e400}']
)
def test_what_is_no_json_is_a_value_error(bad: bytes) -> None:
    with pytest.raises(ValueError):
        decode(bad)


def test_shapes_are_never_believed() -> None:
    assert mapping([1]) == {} and sequence({"a": 1}) == [] and text(5) == ""
    assert [count(value) for value in (3, 0, -1, True, "3", None, 1.5)] == [
        3,
        0,
        None,
        None,
        None,
        None,
        None,
    ]
