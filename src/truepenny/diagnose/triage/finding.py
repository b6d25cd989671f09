"""What a rule concludes, with the evidence it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

QUOTE_CHARS = 300
"""Longest quoted excerpt: one log line or event message; the read it names holds the rest."""


class ObjectRef(NamedTuple):
    """One object. `kind` as in its manifest (`Deployment`); `namespace` empty if cluster-wide."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"


class Severity(StrEnum):
    """How much it matters now."""

    CRITICAL = "critical"
    """Something does not work."""
    WARNING = "warning"
    """Something will not work, or works worse than asked for."""
    INFO = "info"
    """Seen, judged, and no incident: past restarts, a suspended job."""


class Confidence(StrEnum):
    """How sure the rule is."""

    HIGH = "high"
    """The API server states it in a field."""
    MEDIUM = "medium"
    """The target's own words (a log line, an event message) state it."""
    LOW = "low"
    """It fits, and a needed read is missing or says less than the conclusion."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence: an exact excerpt of one read. Untrusted text; `cut` says that it was shortened."""

    source: str
    command: str
    excerpt: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A next step: `text` for a person; `command` runs as it stands (a read), or is empty."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One conclusion.

    `explained_by` lists objects whose own finding would explain this one; `because_of` is the one
    that does, set by `link`. `sure_because` gives the reason for the confidence.
    """

    rule: str
    cause: str
    object: ObjectRef
    sentence: str
    severity: Severity
    confidence: Confidence
    sure_because: str
    evidence: tuple[Quote, ...]
    steps: tuple[Step, ...] = ()
    not_checked: tuple[str, ...] = ()
    explained_by: tuple[ObjectRef, ...] = ()
    about: tuple[ObjectRef, ...] = ()
    because_of: ObjectRef | None = None

    @property
    def key(self) -> tuple[str, ObjectRef]:
        """What makes two findings the same one."""
        return self.cause, self.object

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, the shape of `facts.detail.findings`."""
        return {
            "rule": self.rule,
            "cause": self.cause,
            "object": self.object._asdict(),
            "sentence": self.sentence,
            "severity": str(self.severity),
            "confidence": {"level": str(self.confidence), "reason": self.sure_because},
            "evidence": [
                {"id": q.source, "command": q.command, "excerpt": q.excerpt, "cut": q.cut}
                for q in self.evidence
            ],
            "next_steps": [{"text": s.text, "command": s.command} for s in self.steps],
            "not_checked": list(self.not_checked),
            "about": [ref._asdict() for ref in self.about],
            "because_of": self.because_of._asdict() if self.because_of else None,
        }


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Keep the first finding of each key."""
    seen: dict[tuple[str, ObjectRef], Finding] = {}
    for finding in findings:
        seen.setdefault(finding.key, finding)
    return list(seen.values())
