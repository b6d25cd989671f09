"""Judging wall time: the baseline is read before the program runs, and recorded only on request.

The time is that of the whole run, the start of the process and of its sandbox included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from truepenny.errors import StorageFailed
from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution
from truepenny.system.clock import timestamp

from . import inside
from .check import Check, PerfRule
from .host import host_facts
from .judge import Judge, NotPrepared
from .judgement import Judgement, Validation
from .perf_budget import (
    MAX_BASELINE_BYTES,
    Baseline,
    PerfVerdict,
    UnusableBaseline,
    decode,
    differences,
    judge,
)


class PerfJudge(Judge):
    """Holds the budget or the baseline. Raises NotPrepared where neither can be had."""

    def __init__(
        self,
        root: Path,
        check: Check,
        rule: PerfRule,
        now: Callable[[], datetime],
        record: bool = False,
        reach: inside.Reach | None = None,
    ) -> None:
        self._root, self._check, self._rule, self._now = root, check, rule, now
        self._record = record
        self._baseline: Baseline | None = None
        if rule.baseline is not None:
            self._baseline = _read(root, check, rule.baseline, record, reach)
        elif record:
            message = f"{check.id} has a fixed budget: there is no baseline to record"
            raise NotPrepared("no_baseline", message)

    def judge(self, execution: Execution) -> Judgement:
        measured = round(execution.duration * 1000, 3)
        detail: dict[str, Any] = {"wallTimeMs": measured}
        lines = [f"wall time: {measured:g} ms (start of process and sandbox included)"]
        verdict = self._verdict(measured)
        if verdict is not None:
            detail |= {
                "referenceMs": verdict.reference_ms,
                "relative": verdict.relative,
                "limitMs": verdict.limit_ms,
                "ratio": verdict.ratio,
            }
            source = "budget" if self._rule.baseline is None else f"baseline {self._rule.baseline}"
            lines.append(
                f"limit: {verdict.limit_ms:g} ms = {source} {verdict.reference_ms:g} ms "
                f"x (1 + {verdict.relative:g}); ratio {verdict.ratio:.3f}"
            )
        self._compare_hosts(detail, lines)
        if self._record:
            self._publish(measured, detail, lines)
        validation, outcome, reason = self._words(verdict, detail)
        return Judgement(validation, outcome, reason, tuple(lines), detail)

    def _words(
        self, verdict: PerfVerdict | None, detail: dict[str, Any]
    ) -> tuple[Validation, Outcome, str]:
        if self._record and not detail["recorded"]:
            failed = Validation.NOT_RUN
            if verdict is not None:
                failed = Validation.PASSED if verdict.passed else Validation.FAILED
            return failed, Outcome.TARGET_FAILED, "baseline_not_recorded"
        if verdict is None:
            return Validation.NOT_RUN, Outcome.NO_MATCH, "nothing_to_compare"
        if verdict.passed:
            return Validation.PASSED, Outcome.SUCCESS, ""
        return Validation.FAILED, Outcome.TARGET_FAILED, "over_budget"

    def _verdict(self, measured: float) -> PerfVerdict | None:
        reference = self._rule.budget_ms
        if self._baseline is not None:
            reference = self._baseline.wall_ms
        return None if reference is None else judge(measured, reference, self._rule.relative)

    def _compare_hosts(self, detail: dict[str, Any], lines: list[str]) -> None:
        if self._baseline is None:
            return
        detail["baseline"] = {
            "version": self._baseline.version,
            "recordedAt": self._baseline.recorded_at,
        }
        other = differences(self._baseline.host, host_facts())
        detail["hostDiffers"] = {name: list(pair) for name, pair in other.items()}
        if other:
            told = [f"{name} {then!r} then, {now!r} now" for name, (then, now) in other.items()]
            lines.append(f"another host (informational): {', '.join(told)}")

    def _publish(self, measured: float, detail: dict[str, Any], lines: list[str]) -> None:
        path = self._rule.baseline or ""
        detail["recorded"] = False
        if measured <= 0:
            lines.append("no baseline was recorded: the clock did not move")
            return
        host = host_facts()
        new = Baseline(self._check.id, measured, timestamp(self._now()), host)
        try:
            inside.write(self._root, path, new.encode())
        except (inside.NotInside, StorageFailed) as problem:
            lines.append(f"no baseline was recorded: {problem}")
            return
        detail["recorded"] = True
        detail["host"] = asdict(host)
        instead = "" if self._baseline is None else f" in place of {self._baseline.wall_ms:g} ms"
        lines.append(f"recorded {measured:g} ms{instead} in {path}")


def _read(
    root: Path, check: Check, path: str, record: bool, reach: inside.Reach | None
) -> Baseline | None:
    try:
        return decode(inside.read(root, path, MAX_BASELINE_BYTES, reach), check.id)
    except inside.NotInside as refusal:
        if refusal.reason != "missing":
            raise NotPrepared(f"baseline_{refusal.reason}", f"baseline {refusal}") from None
        if record:
            return None
        message = f"no baseline is recorded in {path}: nothing to compare with"
        hint = "call again with record_baseline true to record one"
        raise NotPrepared("baseline_missing", message, hint) from None
    except UnusableBaseline as problem:
        hint = "to record a new one, move this file away and call with record_baseline true"
        raise NotPrepared("baseline_unusable", f"baseline {path!r}: {problem}", hint) from None
