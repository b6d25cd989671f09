"""Comparing numbers with a reference, exactly as declared (tools spec 2.10). No input or output.

Whether a value is within a relative or absolute tolerance is decided on the exact values: floating
arithmetic is used only far from the limit, rationals near it. So no rounding of ours decides.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from .numeric_value import Numbers, NumberTable

MAX_ULP = 2**53 - 1
"""The largest distance that every reader of the catalog holds exactly."""

NEAR = 1e-9
"""Closer than this share of the limit, a quotient of doubles may have been rounded across it; its
error is below 1e-15."""

MAX_SHOWN = 20
"""Deviations that are kept one by one; the rest are counted by reason."""

OVERFLOW = "overflow"
"""Stands for a deviation that is finite but larger than any double."""


class Reason(StrEnum):
    """Why a key or an element does not match."""

    MISSING_ACTUAL = "missing-actual"
    MISSING_REFERENCE = "missing-reference"
    SHAPE = "shape-mismatch"
    LENGTH = "length-mismatch"
    NOT_FINITE = "not-finite"
    RELATIVE = "relative"
    ABSOLUTE = "absolute"
    ULP = "ulp"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """At least one of three limits, each inclusive. `ulp` counts doubles from one to the other.

    `combine` says whether all or any of the given ones must hold. `non_finite` "match" lets NaN
    match NaN and an infinity its equal; "fail" lets neither match anything.
    """

    relative: float | None = None
    absolute: float | None = None
    ulp: int | None = None
    combine: Literal["all", "any"] = "all"
    non_finite: Literal["fail", "match"] = "fail"

    def __post_init__(self) -> None:
        if self.relative is None and self.absolute is None and self.ulp is None:
            raise ValueError("a tolerance names at least one of relative, absolute, ulp")
        for limit in (self.relative, self.absolute):
            if limit is not None and not (math.isfinite(limit) and limit >= 0):
                raise ValueError("a relative or absolute tolerance is finite and not negative")
        if self.ulp is not None and not 0 <= self.ulp <= MAX_ULP:
            raise ValueError(f"an ulp tolerance is from 0 to {MAX_ULP}")


@dataclass(frozen=True, slots=True)
class Deviation:
    """One value beside its reference. `index` is None for a single number.

    `actual` and `expected` are numbers, the name of a value that is not finite, or the literal of
    one that no double holds. `relative` is None against an expected zero, `ulp` where a double
    does not hold the value. `reason` None: within the tolerance.
    """

    key: str
    index: int | None
    actual: float | str
    expected: float | str
    absolute: float | str | None
    relative: float | str | None
    ulp: int | None
    reason: Reason | None

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key, "index": self.index, "actual": self.actual,
            "expected": self.expected, "absolute": self.absolute, "relative": self.relative,
            "ulp": self.ulp, "reason": self.reason and str(self.reason),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A key that could not be compared element by element; `found` and `wanted` are counts of
    elements, None where the side has a single number or nothing."""

    key: str
    reason: Reason
    found: int | None = None
    wanted: int | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key, "reason": str(self.reason), "actualLength": self.found,
            "referenceLength": self.wanted,
        }  # fmt: skip


@dataclass(slots=True)
class Comparison:
    """The whole answer. `compared` counts pairs of values, `failures` by reason is complete;
    `deviations` and `mismatches` hold the first `MAX_SHOWN` of each.

    `beyond_double` counts pairs in which a double does not hold a value as written; they were
    compared by their digits.
    """

    compared: int = 0
    failures: dict[Reason, int] = field(default_factory=dict[Reason, int])
    mismatches: list[Mismatch] = field(default_factory=list[Mismatch])
    deviations: list[Deviation] = field(default_factory=list[Deviation])
    worst: Deviation | None = None
    beyond_double: int = 0

    @property
    def passed(self) -> bool:
        """Whether something was compared and all of it matched."""
        return self.compared > 0 and not self.failures


def compare(actual: NumberTable, reference: NumberTable, tolerance: Tolerance) -> Comparison:
    """Compare every key of both sides; keys come in the order of the reference, then the rest."""
    comparison = Comparison()
    ranking: tuple[float, ...] = (-1.0,)
    for key, expected in reference.items():
        found = actual.get(key)
        mismatch = _mismatch(key, found, expected)
        if found is None or mismatch is not None:
            _note(comparison, mismatch or Mismatch(key, Reason.MISSING_ACTUAL))
            continue
        comparison.compared += len(expected)
        comparison.beyond_double += len(found.literals.keys() | expected.literals.keys())
        for deviation in _pairs(key, found, expected, tolerance, comparison):
            rank = _rank(deviation, tolerance)
            if rank > ranking:
                ranking, comparison.worst = rank, deviation
            if deviation.reason is not None:
                _count(comparison, deviation.reason)
                if len(comparison.deviations) < MAX_SHOWN:
                    comparison.deviations.append(deviation)
    for key in actual:
        if key not in reference:
            _note(comparison, Mismatch(key, Reason.MISSING_REFERENCE))
    return comparison


def _mismatch(key: str, actual: Numbers | None, expected: Numbers) -> Mismatch | None:
    if actual is None:
        return Mismatch(key, Reason.MISSING_ACTUAL, None, expected.length)
    if actual.single != expected.single:
        return Mismatch(key, Reason.SHAPE, actual.length, expected.length)
    if len(actual) != len(expected):
        return Mismatch(key, Reason.LENGTH, actual.length, expected.length)
    return None


def _note(comparison: Comparison, mismatch: Mismatch) -> None:
    _count(comparison, mismatch.reason)
    if len(comparison.mismatches) < MAX_SHOWN:
        comparison.mismatches.append(mismatch)


def _count(comparison: Comparison, reason: Reason) -> None:
    comparison.failures[reason] = comparison.failures.get(reason, 0) + 1


def _pairs(
    key: str, actual: Numbers, expected: Numbers, tolerance: Tolerance, so_far: Comparison
) -> Iterator[Deviation]:
    """Yield the pairs that fail or could be the worst, and the first one in any case."""
    for place, (found, wanted) in enumerate(zip(actual.values, expected.values, strict=True)):
        literals = (actual.literals.get(place), expected.literals.get(place))
        plain = literals == (None, None)
        if plain and so_far.worst is not None and _dull(found, wanted, tolerance, so_far.worst):
            continue
        index = None if expected.single else place
        if plain:
            yield _deviation(key, index, found, wanted, tolerance)
        else:
            yield _by_digits(key, index, (found, wanted), literals, tolerance)


def _dull(actual: float, expected: float, tolerance: Tolerance, worst: Deviation) -> bool:
    """Whether a pair is plainly within the tolerance and less than the worst so far: most of a
    million are, and need no more than this."""
    if actual == expected:
        return math.isfinite(actual)
    if tolerance.ulp is not None or expected == 0:
        return False
    absolute = abs(actual - expected)  # not finite: every comparison below is False
    relative = absolute / abs(expected)
    below = 1 - NEAR
    if tolerance.relative is not None and not relative < tolerance.relative * below:
        return False
    if tolerance.absolute is not None and not absolute < tolerance.absolute * below:
        return False
    measure, top = absolute, worst.absolute
    if tolerance.relative is not None:
        measure, top = relative, worst.relative
    return worst.reason is not None or (isinstance(top, float) and measure < top)


def _deviation(
    key: str, index: int | None, actual: float, expected: float, tolerance: Tolerance
) -> Deviation:
    if actual == expected and math.isfinite(actual):
        relative = None if expected == 0 else 0.0
        return Deviation(key, index, actual, expected, 0.0, relative, 0, None)
    if not (math.isfinite(actual) and math.isfinite(expected)):
        same = actual == expected or (math.isnan(actual) and math.isnan(expected))
        reason = None if same and tolerance.non_finite == "match" else Reason.NOT_FINITE
        return Deviation(key, index, named(actual), named(expected), None, None, None, reason)
    absolute = abs(actual - expected)
    relative = relative_deviation(actual, expected)
    ulp = ulp_distance(actual, expected)
    held = {
        Reason.RELATIVE: tolerance.relative is not None
        and _within_relative(actual, expected, relative, tolerance.relative),
        Reason.ABSOLUTE: tolerance.absolute is not None
        and _within_absolute(actual, expected, absolute, tolerance.absolute),
        Reason.ULP: tolerance.ulp is not None and ulp <= tolerance.ulp,
    }
    return Deviation(
        key, index, actual, expected, _finite(absolute),
        None if relative is None else _finite(relative), ulp, _verdict(held, tolerance),
    )  # fmt: skip


def _by_digits(
    key: str,
    index: int | None,
    values: tuple[float, float],
    literals: tuple[str | None, str | None],
    tolerance: Tolerance,
) -> Deviation:
    """Compare a pair of which a double does not hold at least one: by its digits, never rounded.

    Doubles between two such values cannot be counted, so `ulp` holds only on equality.
    """
    shown = [
        named(value) if literal is None else literal
        for value, literal in zip(values, literals, strict=True)
    ]
    if not all(math.isfinite(value) for value in values):
        # A number beyond every double is not an infinity: it matches nothing.
        reason = Reason.NOT_FINITE
        return Deviation(key, index, shown[0], shown[1], None, None, None, reason)
    exact = [
        Fraction(value) if literal is None else Fraction(int(literal))
        for value, literal in zip(values, literals, strict=True)
    ]
    difference = abs(exact[0] - exact[1])
    relative = None if exact[1] == 0 else difference / abs(exact[1])
    held = {
        Reason.RELATIVE: tolerance.relative is not None
        and (difference == 0 if relative is None else relative <= Fraction(tolerance.relative)),
        Reason.ABSOLUTE: tolerance.absolute is not None
        and difference <= Fraction(tolerance.absolute),
        Reason.ULP: tolerance.ulp is not None and difference == 0,
    }
    return Deviation(
        key, index, shown[0], shown[1], _as_float(difference),
        None if relative is None else _as_float(relative), 0 if difference == 0 else None,
        _verdict(held, tolerance),
    )  # fmt: skip


def _verdict(held: dict[Reason, bool], tolerance: Tolerance) -> Reason | None:
    limits = {
        Reason.RELATIVE: tolerance.relative,
        Reason.ABSOLUTE: tolerance.absolute,
        Reason.ULP: tolerance.ulp,
    }
    given = [reason for reason, limit in limits.items() if limit is not None]
    failed = [reason for reason in given if not held[reason]]
    passed = not failed if tolerance.combine == "all" else len(failed) < len(given)
    return None if passed else failed[0]


def relative_deviation(actual: float, expected: float) -> float | None:
    """Return |actual - expected| / |expected| of two finite values; None against zero.

    Where the difference overflows the same is |actual / expected - 1|.
    """
    if expected == 0:
        return None
    difference = abs(actual - expected)
    if math.isinf(difference):
        return abs(actual / expected - 1)
    return difference / abs(expected)


def _within_relative(actual: float, expected: float, deviation: float | None, limit: float) -> bool:
    if deviation is None:
        return actual == expected
    if abs(deviation - limit) > NEAR * limit:
        return deviation < limit
    difference = abs(Fraction(actual) - Fraction(expected))
    return difference <= Fraction(limit) * abs(Fraction(expected))


def _within_absolute(actual: float, expected: float, deviation: float, limit: float) -> bool:
    if abs(deviation - limit) > NEAR * limit:
        return deviation < limit
    return abs(Fraction(actual) - Fraction(expected)) <= Fraction(limit)


def ulp_distance(one: float, other: float) -> int:
    """Count the steps from one double to the other; 0 between +0 and -0."""
    return abs(_ordered(one) - _ordered(other))


def _ordered(value: float) -> int:
    """Map a double to an integer so that neighbours differ by one, through zero as well."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def named(value: float) -> float | str:
    """Return the value, or the one name for it that JSON can carry."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _finite(deviation: float) -> float | str:
    return deviation if math.isfinite(deviation) else OVERFLOW


def _as_float(value: Fraction) -> float | str:
    try:
        return float(value)
    except OverflowError:
        return OVERFLOW


def _rank(deviation: Deviation, tolerance: Tolerance) -> tuple[float, ...]:
    """Order deviations: failed over held, not finite over all, then by the first limit given."""
    measure: float | str | None
    if tolerance.relative is not None:
        measure = deviation.relative
    elif tolerance.absolute is not None:
        measure = deviation.absolute
    else:
        measure = deviation.ulp
    if measure is None:
        # Against zero, beyond a double, or not finite: no number, so worse than any, unless equal.
        number = 0.0 if deviation.absolute == 0 or deviation.reason is None else math.inf
    else:
        number = math.inf if isinstance(measure, str) else float(measure)
    absolute = deviation.absolute
    second = math.inf if isinstance(absolute, str) else absolute or 0.0
    return (
        float(deviation.reason is not None),
        float(deviation.reason is Reason.NOT_FINITE),
        number,
        second,
    )
