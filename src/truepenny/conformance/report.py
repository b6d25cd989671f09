"""Trials summed up by category: as a table, as Markdown, as JSON."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .judge import Verdict
from .trial import Trial

HEADER = ("category", "cases", "passed", "failed", "not told", "not run", "must failed")


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the suite: which suite, which tool, what became of each case."""

    suite: str
    tool: str
    version: str
    trials: tuple[Trial, ...]

    @property
    def broken(self) -> tuple[Trial, ...]:
        """The cases that a tool must pass and did not: wrong or silent."""
        return tuple(
            trial
            for trial in self.trials
            if trial.case.level == "must" and trial.verdict in (Verdict.FAILED, Verdict.NOT_TOLD)
        )

    @property
    def conforms(self) -> bool | None:
        """Whether every `must` case that ran passed; None where none ran: that is no pass."""
        if not any(
            trial.verdict is not Verdict.NOT_RUN and trial.case.level == "must"
            for trial in self.trials
        ):
            return None
        return not self.broken

    @property
    def passed(self) -> bool | None:
        """Whether every case that ran passed, of whatever level; None where none ran."""
        ran = [trial for trial in self.trials if trial.verdict is not Verdict.NOT_RUN]
        return all(trial.verdict is Verdict.PASSED for trial in ran) if ran else None

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row a category and one for all, cells as in `HEADER`."""
        names = list(dict.fromkeys(trial.case.category for trial in self.trials))
        rows = [
            _row(name, [trial for trial in self.trials if trial.case.category == name])
            for name in names
        ]
        return [*rows, _row("all", self.trials)]

    def table(self) -> list[tuple[str, ...]]:
        """Return the header and the rows."""
        return [HEADER, *self.rows()]

    def faults(self) -> list[tuple[str, ...]]:
        """Return a row for each expectation that was not met: case, level, what, wanted, seen."""
        return [
            (
                trial.case.id, trial.case.level,
                str(finding.verdict).replace("_", " "),
                finding.expectation, finding.expected, finding.observed,
            )
            for trial in self.trials
            for finding in trial.findings
            if finding.verdict is not Verdict.PASSED
        ]  # fmt: skip

    def markdown(self) -> str:
        """Return the table by category for a document."""
        lines = [f"| {' | '.join(row)} |" for row in self.table()]
        lines.insert(1, "|" + "---|" * len(HEADER))
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return the whole report as JSON values."""
        return {
            "suite": self.suite,
            "tool": self.tool,
            "version": self.version,
            "machine": f"{platform.system()} {platform.release()} {platform.machine()}",
            "conforms": self.conforms,
            "categories": [dict(zip(HEADER, row, strict=True)) for row in self.rows()],
            "trials": [_trial(trial) for trial in self.trials],
        }


def _row(name: str, trials: Sequence[Trial]) -> tuple[str, ...]:
    counts = [
        sum(trial.verdict is verdict for trial in trials)
        for verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.NOT_TOLD, Verdict.NOT_RUN)
    ]
    broken = sum(
        trial.case.level == "must" and trial.verdict in (Verdict.FAILED, Verdict.NOT_TOLD)
        for trial in trials
    )
    return (name, *map(str, (len(trials), *counts, broken)))


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "id": trial.case.id,
        "category": trial.case.category,
        "level": trial.case.level,
        "verdict": str(trial.verdict),
        "seconds": round(trial.seconds, 3),
        "reason": trial.reason,
        "findings": [
            {
                "expectation": finding.expectation, "verdict": str(finding.verdict),
                "expected": finding.expected, "observed": finding.observed,
            }
            for finding in trial.findings
        ],
    }  # fmt: skip
