"""Numeric policy against exact rational arithmetic, and the cases that rounding gets wrong."""

from __future__ import annotations

import json
import math
import sys
from array import array
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.verify.numeric_compare import (
    MAX_SHOWN,
    MAX_ULP,
    OVERFLOW,
    Comparison,
    Reason,
    Tolerance,
    compare,
    relative_deviation,
    ulp_distance,
)
from truepenny.workspace.verify.numeric_value import Numbers, read_numbers

MAX, TINY = sys.float_info.max, 5e-324
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LIMIT = st.floats(min_value=0, allow_nan=False, allow_infinity=False)


def both(actual: float, expected: float, **tolerance: object) -> Comparison:
    table = {"k": Numbers(array("d", [actual]))}, {"k": Numbers(array("d", [expected]))}
    return compare(*table, Tolerance(**tolerance))  # pyright: ignore[reportArgumentType]


def written(actual: str, expected: str, **tolerance: object) -> Comparison:
    sides = read_numbers(f'{{"k": {actual}}}'), read_numbers(f'{{"k": {expected}}}')
    return compare(*sides, Tolerance(**tolerance))  # pyright: ignore[reportArgumentType]


def reason(comparison: Comparison) -> str | None:
    assert comparison.worst is not None
    return comparison.worst.reason


def pairs() -> st.SearchStrategy[tuple[float, float]]:
    near = FINITE.flatmap(
        lambda value: st.tuples(
            st.just(value), st.integers(-8, 8).map(lambda steps: _steps(value, steps))
        )
    )
    return st.one_of(st.tuples(FINITE, FINITE), near)


def _steps(value: float, steps: int) -> float:
    for _ in range(abs(steps)):
        following = math.nextafter(value, math.copysign(math.inf, steps))
        if math.isinf(following):
            break
        value = following
    return value


@given(pairs(), LIMIT)
def test_relative_is_decided_exactly(pair: tuple[float, float], limit: float) -> None:
    actual, expected = map(Fraction, pair)
    wanted = abs(actual - expected) <= Fraction(limit) * abs(expected)
    assert both(*pair, relative=limit).passed == wanted


@given(pairs(), LIMIT)
def test_absolute_is_decided_exactly(pair: tuple[float, float], limit: float) -> None:
    wanted = abs(Fraction(pair[0]) - Fraction(pair[1])) <= Fraction(limit)
    assert both(*pair, absolute=limit).passed == wanted


@given(pairs())
def test_the_limit_itself_is_within(pair: tuple[float, float]) -> None:
    """A limit that is just the deviation, rounded up or down, decides by the exact one."""
    deviation = relative_deviation(*pair)
    if deviation is None or math.isinf(deviation):
        return
    for limit in (deviation, _steps(deviation, 1), max(_steps(deviation, -1), 0.0)):
        actual, expected = map(Fraction, pair)
        wanted = abs(actual - expected) <= Fraction(limit) * abs(expected)
        assert both(*pair, relative=limit).passed == wanted


@given(FINITE, st.integers(-8, 8))
def test_ulp_counts_steps_through_zero(value: float, steps: int) -> None:
    other = _steps(value, steps)
    if abs(other) == MAX:
        return
    # Stepping over zero meets 0.0 once: the two zeros are one place.
    assert ulp_distance(value, other) == abs(steps)
    assert ulp_distance(other, value) == abs(steps)
    assert both(value, other, ulp=abs(steps)).passed
    if steps:
        assert not both(value, other, ulp=abs(steps) - 1).passed


@given(FINITE, FINITE, LIMIT, LIMIT, st.integers(0, MAX_ULP))
def test_all_and_any(a: float, e: float, relative: float, absolute: float, ulp: int) -> None:
    each = [
        both(a, e, relative=relative).passed,
        both(a, e, absolute=absolute).passed,
        both(a, e, ulp=ulp).passed,
    ]
    given_all = {"relative": relative, "absolute": absolute, "ulp": ulp}
    assert both(a, e, **given_all).passed == all(each)
    assert both(a, e, **given_all, combine="any").passed == any(each)


TOLERANCES = st.fixed_dictionaries(
    {},
    optional={
        "relative": st.one_of(LIMIT, st.floats(0, 1)),
        "absolute": LIMIT,
        "ulp": st.integers(0, 8),
        "combine": st.sampled_from(["all", "any"]),
        "non_finite": st.sampled_from(["fail", "match"]),
    },
).filter(lambda given: {"relative", "absolute", "ulp"} & given.keys())


@given(st.lists(st.one_of(pairs(), st.tuples(st.floats(), st.floats())), max_size=5), TOLERANCES)
def test_a_list_is_judged_as_its_elements_are(
    listed: list[tuple[float, float]], tolerance: dict[str, Any]
) -> None:
    sides = (array("d", [pair[side] for pair in listed]) for side in (0, 1))
    actual, expected = ({"k": Numbers(values, single=False)} for values in sides)
    whole = compare(actual, expected, Tolerance(**tolerance))
    alone = [both(*pair, **tolerance) for pair in listed]
    assert whole.compared == len(listed)
    assert sum(whole.failures.values()) == sum(not one.passed for one in alone)
    for why in Reason:
        assert whole.failures.get(why, 0) == sum(one.failures.get(why, 0) for one in alone)
    if not listed:
        assert whole.worst is None
        return
    worst = whole.worst
    assert worst is not None
    assert (worst.reason is None) == (not whole.failures)
    measure = (
        "relative" if "relative" in tolerance else "absolute" if "absolute" in tolerance else "ulp"
    )
    for one in alone:
        assert one.worst is not None
        mine, top = getattr(one.worst, measure), getattr(worst, measure)
        if (one.worst.reason is None) == (worst.reason is None) and not isinstance(top, str):
            assert mine is None or top is None or (not isinstance(mine, str) and mine <= top)


def test_zeros_denormals_and_the_ends_of_the_range() -> None:
    assert both(0.0, -0.0, relative=0.0, absolute=0.0, ulp=0).passed
    assert ulp_distance(TINY, -TINY) == 2
    assert both(TINY, 0.0, ulp=1).passed
    assert not both(TINY, 0.0, relative=1e300).passed
    assert both(TINY, 0.0, absolute=TINY).passed
    far = both(MAX, -MAX, relative=2.0)
    assert far.passed
    assert far.worst is not None
    assert (far.worst.relative, far.worst.absolute) == (2.0, OVERFLOW)
    assert not both(MAX, -MAX, relative=1.9999999999999998).passed
    assert not both(MAX, -MAX, absolute=MAX).passed
    # The quotient underflows to zero; the values still differ.
    assert not both(MAX, math.nextafter(MAX, 0), relative=0.0).passed
    assert not both(TINY, -MAX, relative=0.5).passed


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite(value: float) -> None:
    wide = {"relative": MAX, "absolute": MAX, "ulp": MAX_ULP, "combine": "any"}
    assert reason(both(value, value, **wide)) is Reason.NOT_FINITE
    assert both(value, value, **wide, non_finite="match").passed
    for other in (1.0, math.inf, -math.inf, math.nan):
        if other == value or (math.isnan(other) and math.isnan(value)):
            continue
        for one, two in ((value, other), (other, value)):
            assert reason(both(one, two, **wide, non_finite="match")) is Reason.NOT_FINITE


def test_a_tolerance_is_a_tolerance() -> None:
    for wrong in (
        {},
        {"relative": -1.0},
        {"relative": math.inf},
        {"absolute": math.nan},
        {"ulp": -1},
        {"ulp": MAX_ULP + 1},
    ):
        with pytest.raises(ValueError, match="tolerance"):
            Tolerance(**wrong)
    assert Tolerance(ulp=MAX_ULP).ulp == 2**53 - 1


def test_the_shapes_and_the_keys_of_both_sides() -> None:
    actual = read_numbers('{"list": [1, 2], "one": 1, "extra": 3, "same": [7]}')
    reference = read_numbers('{"list": [1, 2, 3], "one": [1], "lost": 4, "same": [7]}')
    found = compare(actual, reference, Tolerance(relative=0.0))
    assert {one.key: one.reason for one in found.mismatches} == {
        "list": Reason.LENGTH,
        "one": Reason.SHAPE,
        "lost": Reason.MISSING_ACTUAL,
        "extra": Reason.MISSING_REFERENCE,
    }
    assert found.compared == 1
    assert not found.passed


def test_nothing_compared_is_no_pass() -> None:
    empty = compare(read_numbers('{"a": []}'), read_numbers('{"a": []}'), Tolerance(ulp=0))
    assert empty.compared == 0
    assert not empty.failures
    assert not empty.passed


def test_the_worst_is_a_failure_and_the_largest() -> None:
    actual = read_numbers('{"a": [1.0, 1.1, 5.0, 1.0]}')
    reference = read_numbers('{"a": [1.0, 1.0, 4.0, 0]}')
    found = compare(actual, reference, Tolerance(relative=0.2))
    assert found.worst is not None
    # Against zero there is no ratio: nothing is worse.
    assert (found.worst.index, found.worst.relative, found.worst.reason) == (3, None, "relative")
    assert found.failures == {Reason.RELATIVE: 2}
    held = compare(actual, reference, Tolerance(absolute=2.0))
    assert held.passed
    assert held.worst is not None
    assert held.worst.index in (2, 3)
    broken = read_numbers('{"a": [1.0, NaN, 500.0, 1.0]}')
    found = compare(broken, reference, Tolerance(relative=0.2))
    assert found.worst is not None
    assert found.worst.to_json() == {
        "key": "a", "index": 1, "actual": "NaN", "expected": 1.0, "absolute": None,
        "relative": None, "ulp": None, "reason": "not-finite",
    }  # fmt: skip


def test_integers_beyond_a_double_are_compared_by_their_digits() -> None:
    big, near = "9007199254740993", "9007199254740992"
    assert float(big) == float(near)
    for tolerance in ({"relative": 0.0}, {"absolute": 0.5}, {"ulp": 0}, {"ulp": MAX_ULP}):
        found = written(big, near, **tolerance)
        assert not found.passed
        assert found.beyond_double == 1
        assert found.worst is not None
        assert (found.worst.actual, found.worst.absolute, found.worst.ulp) == (big, 1.0, None)
    assert written(big, near, absolute=1.0).passed
    assert written(big, big, relative=0.0, absolute=0.0, ulp=0).passed
    assert written(big, near, relative=1e-15).passed
    assert not written(big, "0", relative=1.0).passed


def test_a_number_beyond_all_doubles_matches_nothing() -> None:
    for literal in ("1e400", "9" * 400):
        for other in (literal, "Infinity", "1"):
            found = written(literal, other, relative=MAX, non_finite="match")
            assert reason(found) is Reason.NOT_FINITE
            assert found.worst is not None
            assert found.worst.actual == literal


def test_what_is_shown_is_bounded_and_what_is_counted_is_not() -> None:
    actual = read_numbers(json.dumps({"a": [1] * 5000} | {f"x{n}": 1 for n in range(500)}))
    reference = read_numbers(json.dumps({"a": [2] * 5000}))
    found = compare(actual, reference, Tolerance(absolute=0.0))
    assert found.failures == {Reason.ABSOLUTE: 5000, Reason.MISSING_REFERENCE: 500}
    assert (len(found.deviations), len(found.mismatches)) == (MAX_SHOWN, MAX_SHOWN)
