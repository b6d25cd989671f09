"""The table of pods: what can be judged of each pod by its row, where reading all is too much."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .container import LOOPING_RESTARTS, LOOPING_WITHIN
from .query import Query

_CELL = re.compile(r"\s{2,}")
_FINE = frozenset({"Running", "Completed", "Succeeded"})
_RESTARTS = re.compile(r"(\d+) \((\w+) ago\)")
# Ages as kubectl prints them: `45s`, `5m39s`, `3h12m`, `2d`.
_AGE = re.compile(r"(?:(\d+)m)?(?:(\d+)s)?")


@dataclass(frozen=True, slots=True)
class PodRow:
    """One row of the table of pods. `node` is empty for a pod without one.

    `restarts` is as printed: `0`, or `6 (5m39s ago)`.
    """

    namespace: str
    name: str
    ready: str
    status: str
    node: str = ""
    restarts: str = ""

    @property
    def suspicious(self) -> bool:
        """Whether it does not look as it should; says nothing about why."""
        if self.status not in _FINE:
            return True
        have, _, want = self.ready.partition("/")
        return self.status == "Running" and (have != want or self._looping)

    @property
    def _looping(self) -> bool:
        """Whether it was restarted often and just now: between two crashes it looks well."""
        found = _RESTARTS.fullmatch(self.restarts)
        age = _AGE.fullmatch(found[2]) if found else None
        if not found or not age:
            return False
        seconds = int(age[1] or 0) * 60 + int(age[2] or 0)
        return int(found[1]) >= LOOPING_RESTARTS and seconds <= LOOPING_WITHIN.total_seconds()


def pods_table(namespace: str | None) -> Query:
    """Ask for the rows of all pods of a namespace, None for all: some 160 bytes each."""
    where = ("-A",) if namespace is None else ("-n", namespace)
    return Query(("get", "pods", *where, "-o", "wide"), "all pods")


def read_pods(table: str, within: str = "") -> list[PodRow]:
    """Read `kubectl get pods -o wide`, with a NAMESPACE column or all in `within`."""
    lines = [line for line in table.splitlines() if line.strip()]
    if not lines or "NAME" not in lines[0]:
        return []
    titles = _CELL.split(lines[0].strip())
    found: list[PodRow] = []
    for line in lines[1:]:
        cells = dict(zip(titles, _CELL.split(line.strip()), strict=False))
        if "NAME" in cells and "STATUS" in cells:
            found.append(
                PodRow(
                    cells.get("NAMESPACE", within),
                    cells["NAME"],
                    cells.get("READY", ""),
                    cells["STATUS"],
                    "" if cells.get("NODE", "<none>") == "<none>" else cells["NODE"],
                    cells.get("RESTARTS", ""),
                )
            )
    return found


def troubled(rows: Sequence[PodRow]) -> list[str]:
    """Return the namespaces with suspicious pods, those with the most first."""
    odd = [row.namespace for row in rows if row.suspicious]
    return sorted(set(odd), key=lambda space: (-odd.count(space), space))
