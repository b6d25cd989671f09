"""A result crosses a process boundary whole or not at all."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.message import Image, Text
from truepenny.tool.codec import MAX_DEPTH, decode_result, encode_result
from truepenny.tool.outcome import Cause, Leg, Outcome
from truepenny.tool.result import ByteCounts, Completeness, ExitFact, Facts, Result

FULL = Result(
    Outcome.INTERRUPTED,
    (Text("text\nmore"), Image("image/png", b"\x00\xff12", "a.png"), Text("")),
    Facts(
        duration=1.5,
        completeness=Completeness("partial", "limit", "lines", 1, 2, "offset=3"),
        redactions={"jwt": 2},
        bytes=ByteCounts(9, 4, 3, 2, "/scratch/x"),
        sandbox="bwrap",
        containment={"limits": "rlimits"},
        exit=ExitFact(137, 0, 9, (1, 137)),
        cause=Cause.MEMORY,
        leg=Leg.TRANSPORT,
        reason="word",
        hint="do this",
        command="ls",
        source={"context": "one"},
        notes=("said",),
        detail={"list": [1, None, {"deep": True}], "big": 2**60, "text": "ü\u2028"},
    ),
    ends_turn=True,
)


def trip(result: Result) -> Result:
    return decode_result(json.loads(json.dumps(encode_result(result))))


def test_every_fact_survives() -> None:
    plain = Facts()
    for field in dataclasses.fields(Facts):
        assert getattr(FULL.facts, field.name) != getattr(plain, field.name), field.name
    assert trip(FULL) == FULL
    assert trip(Result(Outcome.SUCCESS)) == Result(Outcome.SUCCESS)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=20)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.text(), st.binary(max_size=50), st.dictionaries(st.text(max_size=9), values, max_size=4))
def test_any_content_and_detail_survive(text: str, data: bytes, detail: dict[str, Any]) -> None:
    result = Result(Outcome.SUCCESS, (Text(text), Image("image/gif", data)), Facts(detail=detail))
    assert trip(result) == result


def test_half_a_character_becomes_visible() -> None:
    assert trip(Result(Outcome.SUCCESS, (Text("a\ud800"),))).text == "a\\ud800"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_an_error_at_the_sender(number: float) -> None:
    with pytest.raises(ValueError, match="number"):
        encode_result(Result(Outcome.SUCCESS, (), Facts(detail={"deep": [number]})))
    with pytest.raises(ValueError, match="number"):
        encode_result(Result(Outcome.SUCCESS, (), Facts(duration=number)))


def changed(**changes: Any) -> dict[str, Any]:
    return {**encode_result(FULL), **changes}


def facts(**changes: Any) -> dict[str, Any]:
    return changed(facts={**encode_result(FULL)["facts"], **changes})


@pytest.mark.parametrize(
    "value",
    [
        None, [], "x", {}, changed(extra=1), changed(outcome="fine"), changed(outcome=None),
        changed(ends_turn=1), changed(content={}), changed(content=["x"]),
        changed(content=[{"text": 1}]), changed(content=[{"text": "x", "more": 1}]),
        changed(content=[{"media_type": "a", "data": "!", "name": ""}]),
        changed(content=[{"media_type": "a", "data": "", "name": None}]),
        facts(cause="boredom"), facts(surprise=1), facts(duration="1"), facts(bytes={"kept": -1.5}),
        facts(exit={"observed": True}), changed(facts=None),
    ],
)  # fmt: skip
def test_what_we_would_not_write_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="no result"):
        decode_result(value)


def nested(depth: int) -> Any:
    value: Any = 1
    for place in range(depth):
        value = [value] if place % 2 else {"in": value}
    return value


def test_what_is_nested_too_deep_is_refused_at_both_ends() -> None:
    # The facts and their detail are two of them.
    most = Result(Outcome.SUCCESS, (), Facts(detail={"x": nested(MAX_DEPTH - 2)}))
    assert decode_result(encode_result(most)) == most
    with pytest.raises(ValueError, match="within each other"):
        encode_result(Result(Outcome.SUCCESS, (), Facts(detail={"x": nested(MAX_DEPTH - 1)})))
    for depth in (MAX_DEPTH - 1, 100_000):
        with pytest.raises(ValueError, match="within each other"):
            decode_result(facts(detail={"x": nested(depth)}))
