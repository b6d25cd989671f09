"""Judging a program's numbers: the reference is read before it runs, its output after."""

from __future__ import annotations

import hashlib
from pathlib import Path

from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution

from . import inside
from .brief import brief
from .check import NumericRule
from .judge import Judge, NotPrepared
from .judgement import Judgement, Validation
from .numeric_compare import Comparison, Deviation, Reason, compare
from .numeric_value import MAX_BYTES, NumberTable, Unreadable, elements, read_numbers, read_output


class NumericJudge(Judge):
    """Holds the numbers of the reference. Raises NotPrepared where there are none."""

    judged_bytes = MAX_BYTES

    def __init__(self, root: Path, rule: NumericRule, reach: inside.Reach | None = None) -> None:
        self._rule = rule
        try:
            data = inside.read(root, rule.reference, MAX_BYTES, reach)
            self._reference: NumberTable = read_numbers(data.decode("utf-8-sig"))
        except inside.NotInside as refusal:
            raise NotPrepared(f"reference_{refusal.reason}", f"reference {refusal}") from None
        except UnicodeDecodeError as error:
            message = f"reference {rule.reference!r} is not UTF-8 (byte {error.start})"
            raise NotPrepared("reference_not_utf8", message) from None
        except Unreadable as problem:
            message = f"reference {rule.reference!r}: {problem}"
            raise NotPrepared(f"reference_{problem.reason}", message) from None
        if not elements(self._reference):
            message = f"reference {rule.reference!r} has no number: nothing would be compared"
            raise NotPrepared("reference_empty", message)
        self._provenance = {
            "path": rule.reference,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }

    def judge(self, execution: Execution) -> Judgement:
        stream = execution.stdout
        detail = self._declared()
        if not execution.drained or stream.cut:
            why = "the output may not be complete: a process left behind held it open"
            if stream.cut:
                why = "the output is too large once its unreadable bytes are written out"
            return Judgement(
                Validation.NOT_RUN, Outcome.TRUNCATED, "output_incomplete", (why,), detail
            )
        data = stream.text.encode()
        # Where bytes were written out or dropped on the way, this is not what the program wrote.
        same = len(data) == stream.bytes.observed and not stream.bad_count and not stream.controls
        actual: dict[str, object] = {
            "bytes": stream.bytes.observed,
            "sha256": hashlib.sha256(data).hexdigest() if same else None,
        }
        try:
            numbers, whole = read_output(stream.text)
        except Unreadable as problem:
            line = f"the output holds no comparable numbers: {problem}"
            detail |= {"actual": actual, "unreadable": problem.reason}
            return Judgement(
                Validation.FAILED, Outcome.TARGET_FAILED, "unreadable-actual", (line,), detail
            )
        comparison = compare(numbers, self._reference, self._rule.tolerance)
        detail |= {
            "actual": actual | {"wholeOutput": whole},
            "compared": comparison.compared,
            "failures": {str(reason): count for reason, count in comparison.failures.items()},
            "worst": comparison.worst and comparison.worst.to_json(),
            "deviations": [one.to_json() for one in comparison.deviations],
            "mismatches": [one.to_json() for one in comparison.mismatches],
            "beyondDouble": comparison.beyond_double,
        }
        lines = tuple(self._lines(comparison, actual, whole))
        if comparison.passed:
            return Judgement(Validation.PASSED, Outcome.SUCCESS, "", lines, detail)
        # A reference has a number, so where nothing was compared a key of it had no match.
        reason = next(iter(comparison.failures))
        return Judgement(Validation.FAILED, Outcome.TARGET_FAILED, str(reason), lines, detail)

    def _declared(self) -> dict[str, object]:
        tolerance = self._rule.tolerance
        return {
            "reference": self._provenance,
            "tolerance": self._limits(),
            "combine": tolerance.combine,
            "nonFinite": tolerance.non_finite,
        }

    def _limits(self) -> dict[str, float | int]:
        rule = self._rule.tolerance
        limits = {"relative": rule.relative, "absolute": rule.absolute, "ulp": rule.ulp}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def _lines(self, comparison: Comparison, actual: dict[str, object], whole: bool) -> list[str]:
        rule = self._rule.tolerance
        given = ", ".join(f"{name} {limit!r}" for name, limit in self._limits().items())
        lines = [
            f"compared: {comparison.compared} numbers; {_failures(comparison)}",
            f"tolerance: {given}; {rule.combine} must hold; not finite: {rule.non_finite}",
        ]
        if comparison.worst is not None:
            lines.append(f"worst: {_line(comparison.worst)}")
        lines += [
            f"{one.reason}: key {brief(repr(one.key))}"
            + _lengths(one.reason, one.found, one.wanted)
            for one in comparison.mismatches
        ]
        lines += [_line(one) for one in comparison.deviations if one is not comparison.worst]
        if comparison.beyond_double:
            lines.append(
                f"{comparison.beyond_double} pairs hold numbers that a double does not: "
                "compared by their digits"
            )
        provenance = self._provenance
        lines.append(
            f"reference: {provenance['path']}, {provenance['bytes']} bytes, "
            f"sha256 {provenance['sha256']}"
        )
        part = "" if whole else " (judged from its first `{` to its last `}`)"
        digest = actual["sha256"] or "unknown (some bytes are no plain text)"
        lines.append(f"actual: {actual['bytes']} bytes, sha256 {digest}{part}")
        return lines


def _failures(comparison: Comparison) -> str:
    if not comparison.failures:
        return "all within tolerance"
    return ", ".join(f"{count} {reason}" for reason, count in comparison.failures.items())


def _lengths(reason: Reason, found: int | None, wanted: int | None) -> str:
    if reason not in (Reason.SHAPE, Reason.LENGTH):
        return ""  # One side has nothing.
    names = ["a number" if count is None else f"a list of {count}" for count in (found, wanted)]
    return f" (actual {names[0]}, reference {names[1]})"


def _line(deviation: Deviation) -> str:
    place = "" if deviation.index is None else f"[{deviation.index}]"
    measures = {
        "absolute": deviation.absolute,
        "relative": deviation.relative,
        "ulp": deviation.ulp,
    }
    told = ", ".join(
        f"{name} {'none' if value is None else value}" for name, value in measures.items()
    )
    verdict = f": {deviation.reason}" if deviation.reason else ""
    return (
        f"key {brief(repr(deviation.key))}{place}: actual {brief(str(deviation.actual))}, "
        f"expected {brief(str(deviation.expected))} ({told}){verdict}"
    )
