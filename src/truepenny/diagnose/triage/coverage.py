"""What was looked at: counts of objects, the namespaces they are in, and what was not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .age import since
from .case import event_time
from .evidence import Evidence
from .query import CLUSTER_WIDE, GROUP_OF

# Kinds that a person thinks of as things; events and slices are how they are seen.
_SHOWN = (
    ("pods", "pod"), ("deployments", "deployment"), ("statefulsets", "stateful set"),
    ("daemonsets", "daemon set"), ("services", "service"), ("ingresses", "ingress"),
    ("jobs", "job"), ("cronjobs", "cron job"), ("nodes", "node"),
    ("persistentvolumeclaims", "volume claim"), ("horizontalpodautoscalers", "autoscaler"),
    ("poddisruptionbudgets", "disruption budget"), ("resourcequotas", "quota"),
    ("limitranges", "limit range"), ("certificates.cert-manager.io", "certificate"),
    ("namespaces", "namespace"), ("storageclasses", "storage class"), ("events", "event"),
)  # fmt: skip
EVENTS_KEPT = "a cluster keeps them for an hour by default, so a missing one proves nothing"
"""The default of the API server's --event-ttl."""

_PLURAL_ES = ("ingress", "storage class")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts by kind (plural), namespaces seen in pods, kinds that no read asked for, and gaps."""

    counts: Mapping[str, int]
    namespaces: tuple[str, ...]
    unasked: tuple[str, ...]
    gaps: Mapping[str, str]
    logs: int
    by_row: int = 0
    """Pods of which only the row in the table was read."""
    events_back: str = ""
    """How long ago the oldest event that was read was last seen; empty where none was read."""

    def sentence(self) -> str:
        """Say what was looked at, with counts; kinds that were read and empty are named as none."""
        parts = [
            _counted(self.counts[kind], word)
            for kind, word in _SHOWN
            if self.counts.get(kind) and kind != "namespaces"
        ]
        if self.by_row:
            parts.insert(1 if self.counts.get("pods") else 0, f"{self.by_row} pods by their row")
        if self.logs:
            parts.append(_counted(self.logs, "log"))
        if not parts:
            return "nothing"
        where = ""
        if len(self.namespaces) == 1:
            where = f" in namespace {self.namespaces[0]}"
        elif self.namespaces:
            where = f" in {len(self.namespaces)} namespaces"
        return ", ".join(parts) + where

    def reach_back(self) -> str:
        """Say how far back events tell; empty where no event was asked for."""
        if "events" in self.unasked:
            return ""
        oldest = f"the oldest that was read is from {self.events_back} ago"
        said = oldest if self.events_back else "none was read"
        return f"events: {said}; {EVENTS_KEPT}"

    def missing(self) -> tuple[str, ...]:
        """Say what was not looked at, each with the reason."""
        grouped: dict[tuple[str, str], list[str]] = {}
        for what, why in self.gaps.items():
            thing, _, place = what.partition(" in ")
            grouped.setdefault((place, why), []).append(thing)
        found = [
            f"{', '.join(things)}{f' in {place}' if place else ''}: {why}"
            for (place, why), things in grouped.items()
        ]
        if self.unasked:
            found.append(f"{', '.join(self.unasked)}: not looked at for this question")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "counts": dict(self.counts),
            "namespaces": list(self.namespaces),
            "logs": self.logs,
            "pods_by_row": self.by_row,
            "events_back": self.events_back,
            "not_checked": [{"what": what, "why": why} for what, why in self.gaps.items()],
            "not_asked": list(self.unasked),
        }


def coverage(evidence: Evidence, gaps: Mapping[str, str]) -> Coverage:
    """Count what the evidence holds."""
    counts = {kind: len(evidence.items(kind)) for kind, _ in _SHOWN}
    rows = evidence.by_row
    namespaces = {item.ref.namespace for item in evidence.items("pods")}
    namespaces |= {row.namespace for row in rows}
    asked = {kind for read in evidence.reads for kind in _kinds(read.argv)}
    unasked = [
        f"{word}{'es' if word in _PLURAL_ES else 's'}"
        for kind, word in _SHOWN
        if kind not in asked and kind != "namespaces"
    ]
    times = [when for item in evidence.items("events") if (when := event_time(item.obj))]
    return Coverage(
        counts={kind: count for kind, count in counts.items() if count},
        namespaces=tuple(sorted(namespaces)),
        unasked=tuple(unasked),
        gaps=dict(gaps),
        logs=sum(read.argv[0] == "logs" and read.status.readable for read in evidence.reads),
        by_row=len(rows),
        events_back=since(min(times), evidence.now) if times else "",
    )


def _kinds(argv: tuple[str, ...]) -> list[str]:
    if argv[:1] != ("get",) or len(argv) < 2:
        return []
    return [kind for kind in argv[1].split(",") if kind in GROUP_OF or kind in CLUSTER_WIDE]


def _counted(count: int, word: str) -> str:
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}{'es' if word in _PLURAL_ES else 's'}"
