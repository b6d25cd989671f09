"""What a benchmark answers: rows of ratios, some with a limit that must hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison. `ratio` is ours to the baseline's, both measured in this run.

    `limit` is the largest ratio allowed (smallest where `at_least`); None only informs.
    """

    what: str
    ours: str
    baseline: str
    ratio: float
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the limit holds; a row without one always does."""
        if self.limit is None:
            return True
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


def show(name: str, rows: list[Row]) -> None:
    """Print a Markdown table."""
    print(f"\n### {name}\n")
    print("| what | Truepenny | baseline | ratio | limit |")
    print("|---|---|---|---|---|")
    for row in rows:
        sign = "≥" if row.at_least else "≤"
        limit = "" if row.limit is None else f"{sign} {row.limit:g}{'' if row.holds else ' FAILED'}"
        print(f"| {row.what} | {row.ours} | {row.baseline} | {row.ratio:.2f} | {limit} |")
