"""Trials summed up: per incident, per tag, in all; as a table, as Markdown, as JSON.

A mean is over what ran. Where nothing ran there is no mean: it reads `unmeasured`, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .trial import Trial

UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one group. `mean` is 0 to 1, None where nothing ran."""

    name: str
    ran: int
    passed: int
    could_not_run: int
    mean: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the tally as JSON."""
        return {
            "name": self.name,
            "ran": self.ran,
            "passed": self.passed,
            "could_not_run": self.could_not_run,
            "mean": None if self.mean is None else round(self.mean, 4),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All trials of one answerer, which `subject` names (e.g. `builtin/analyst`)."""

    subject: str
    trials: tuple[Trial, ...]

    @property
    def total(self) -> Tally:
        """Everything together."""
        return tally("all", self.trials)

    @property
    def tags(self) -> tuple[Tally, ...]:
        """One tally a tag, sorted by name; a trial counts under each of its tags."""
        names = sorted({tag for trial in self.trials for tag in trial.incident.tags})
        return tuple(
            tally(name, [trial for trial in self.trials if name in trial.incident.tags])
            for name in names
        )

    @property
    def passed(self) -> bool | None:
        """Whether every trial ran and passed; None where nothing ran at all."""
        total = self.total
        if not total.ran:
            return None
        return total.passed == len(self.trials)

    def to_json(self) -> dict[str, Any]:
        """Return the whole report as JSON."""
        return {
            "subject": self.subject,
            "passed": self.passed,
            "total": self.total.to_json(),
            "tags": [one.to_json() for one in self.tags],
            "trials": [trial.to_json() for trial in self.trials],
        }

    def table(self) -> str:
        """Return two aligned plain text tables: incidents, then tags with the total last."""
        return _aligned(self._incident_rows()) + "\n" + _aligned(self._tag_rows())

    def markdown(self) -> str:
        """Return the same two tables for a document."""
        return _markdown(self._incident_rows()) + "\n" + _markdown(self._tag_rows())

    def _incident_rows(self) -> list[tuple[str, ...]]:
        rows = [("incident", "result", "score", "calls", "seconds", "remark")]
        rows += [_row(trial) for trial in self.trials]
        return rows

    def _tag_rows(self) -> list[tuple[str, ...]]:
        rows = [("tag", "passed", "ran", "could not run", "mean")]
        for one in (*self.tags, self.total):
            mean = UNMEASURED if one.mean is None else f"{one.mean:.2f}"
            rows.append((one.name, str(one.passed), str(one.ran), str(one.could_not_run), mean))
        return rows


def tally(name: str, trials: Sequence[Trial]) -> Tally:
    """Count a group of trials."""
    scores = [trial.score for trial in trials if trial.score is not None]
    return Tally(
        name=name,
        ran=len(scores),
        passed=sum(one.passed for one in scores),
        could_not_run=len(trials) - len(scores),
        mean=sum(one.value for one in scores) / len(scores) if scores else None,
    )


def _row(trial: Trial) -> tuple[str, ...]:
    name, answer, score = trial.incident.name, trial.answer, trial.score
    if score is None or answer is None:
        reason = " ".join(trial.could_not_run.split())
        return (name, "could not run", UNMEASURED, "", "", reason)
    remarks = [f"missing: {', '.join(score.missing)}"] if score.missing else []
    remarks += [
        f"claims: {fact} ({' '.join(words.split())})" for fact, words in score.wrong.items()
    ]
    remarks += [f"over limit: {', '.join(score.over)}"] if score.over else []
    remarks += (
        [f"cites calls that never ran: {', '.join(score.invented)}"] if score.invented else []
    )
    return (
        name,
        "passed" if score.passed else "failed",
        f"{score.value:.2f}",
        str(answer.tool_calls),
        f"{answer.seconds:.1f}",
        "; ".join(remarks),
    )


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines) + "\n"


def _markdown(rows: Sequence[tuple[str, ...]]) -> str:
    safe = [tuple(cell.replace("|", "\\|") for cell in row) for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in safe]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"
