"""What a check is, as declared: data, nothing of how it is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .numeric_compare import Tolerance

CATALOG = ".truepenny/verifiers.yaml"
PACKAGE = "package.json"
FRONTEND = "frontend"
"""The id of the one check that needs no declaration."""

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 900_000
"""Of one check (tools spec 2.10)."""


class Kind(StrEnum):
    """How an end is judged."""

    COMMAND = "command"
    """By its exit status alone."""
    NUMERIC = "numeric-compare"
    PERF = "perf-budget"
    PACKAGE = "package-script"
    FRONTEND = "frontend"


@dataclass(frozen=True, slots=True)
class NumericRule:
    """Compare the JSON on standard output with the file `reference`, a path in the workspace."""

    reference: str
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class PerfRule:
    """Compare wall time with `budget_ms`, or with the file `baseline`; exactly one is set."""

    relative: float
    budget_ms: float | None = None
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One declared check. `argv` never passes a shell. `cwd` is relative to the workspace, empty
    for its root. `place` is the file with the line, where it has one."""

    id: str
    kind: Kind
    argv: tuple[str, ...]
    place: str
    description: str = ""
    cwd: str = ""
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    tags: tuple[str, ...] = ()
    rule: NumericRule | PerfRule | None = None
    env: dict[str, str] = field(default_factory=dict[str, str])


class CatalogRefused(Exception):
    """A declaration that is not taken. `reason` is a machine word, `place` the file and line.

    One is enough to refuse the whole catalog: half a list of checks would read as all of them.
    """

    def __init__(self, reason: str, message: str, place: str) -> None:
        super().__init__(f"{place}: {message}")
        self.reason = reason
        self.message = message
        self.place = place
