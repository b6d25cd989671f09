"""Runs the rules over the evidence, and decides what to read next.

`examine` is one pure pass, shared by the `triage` tool and `builtin/analyst`. `investigate` repeats
it, fetching what the rules ask for, until they ask for nothing more or the budget is spent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import anyio

from .case import Case
from .evidence import Evidence
from .finding import Finding, ObjectRef, distinct
from .link import Incident, incidents, link, notes
from .observation import Observation, Status
from .query import Query, single
from .rules import RULES

MAX_READS = 60
"""Reads of one investigation. A sweep needs about 12; the rest are logs and single objects."""
PARALLEL_READS = 6
"""Reads in flight: enough to hide latency, few enough for a small API server."""

BY_ROW = "judged by their row in the table only"
"""The gap of pods that look well there."""

_PARTIAL = frozenset({"forbidden", "unknown_resource", "malformed_json"})
"""Why a list over several kinds fails when only one of them is the reason."""

Fetch = Callable[[Query, str], Awaitable[Observation]]
"""Makes one read under the given id. Never raises for a read that fails: that is its answer."""


@dataclass(frozen=True, slots=True)
class Examination:
    """One pass: `gaps` says what could not be read and why, `needs` what is still missing."""

    findings: tuple[Finding, ...]
    incidents: tuple[Incident, ...]
    notes: tuple[Finding, ...]
    needs: tuple[Query, ...]
    gaps: dict[str, str] = field(default_factory=dict[str, str])


def examine(
    evidence: Evidence, subjects: Sequence[ObjectRef] = (), *, listen: bool = False
) -> Examination:
    """Run every rule once over the evidence as it stands.

    `subjects` rank first among the incidents; with `listen` the logs of their healthy pods are
    asked for too.
    """
    case = Case(evidence, tuple(subjects) if listen else ())
    found: list[Finding] = []
    for rule in RULES:
        found.extend(rule(case))
    linked = link(distinct(found))
    _list_gaps(case)
    _row_gaps(case)
    _split_refused(case)
    return Examination(
        findings=tuple(linked),
        incidents=tuple(incidents(linked, subjects)),
        notes=tuple(notes(linked)),
        needs=tuple(case.needs),
        gaps=case.gaps,
    )


def _list_gaps(case: Case) -> None:
    """Name the list reads that were not answered, whole or in part, whichever rule wanted them."""
    for read in case.evidence.reads:
        place = _place(read.argv)
        for kind in _kinds(read):
            status = read.absent.get(kind.split(".")[0])
            known = case.evidence.status(kind, place)
            what = f"{kind} in {place}" if place else kind
            if status is None and read.status is Status.TRUNCATED:
                case.gap(what, f"cut after {len(read.objects)} objects")
            elif known is not None and known.readable:
                continue
            elif status is None and not read.status.readable:
                case.gap(what, read.reason or str(read.status))
            elif status is not None or kind in read.unsure:
                case.gap(what, str(status or Status.FORBIDDEN))


def _row_gaps(case: Case) -> None:
    """Count the pods that are known by their row only, those that look wrong apart."""
    rows = case.evidence.by_row
    for odd, why in ((True, "look wrong by their row, not read"), (False, BY_ROW)):
        chosen = [row.namespace for row in rows if row.suspicious is odd]
        if chosen:
            spaces = len(set(chosen))
            where = "1 namespace" if spaces == 1 else f"{spaces} namespaces"
            case.gap(f"{len(chosen)} pod{'s' * (len(chosen) > 1)} in {where}", why)


def _split_refused(case: Case) -> None:
    """Ask kind by kind where a list over several kinds was refused without saying which."""
    for read in case.evidence.reads:
        kinds = _kinds(read)
        refused = read.status in (Status.FORBIDDEN, Status.FAILED) and read.reason in _PARTIAL
        for kind in kinds if len(kinds) > 1 else ():
            if kind not in read.unsure and (not refused or kind.split(".")[0] in read.absent):
                continue
            place = _place(read.argv) or None
            query = single(kind, place, f"{kind} alone: the list over several kinds was refused")
            if case.evidence.get(query) is None:
                case.needs.setdefault(query, query.why)


def _kinds(read: Observation) -> list[str]:
    """The kinds of a list read; none for other reads."""
    argv: Sequence[str] = read.argv
    if len(argv) < 2 or argv[0] != "get" or not read.wants_json:
        return []
    named = len(argv) > 2 and not argv[2].startswith("-")
    return [] if named else argv[1].split(",")


def _place(argv: tuple[str, ...]) -> str:
    return argv[argv.index("-n") + 1] if "-n" in argv else ""


async def investigate(
    evidence: Evidence,
    first: Sequence[Query],
    fetch: Fetch,
    *,
    subjects: Sequence[ObjectRef] = (),
    listen: bool = False,
    max_reads: int = MAX_READS,
    follow: Callable[[Evidence], Sequence[Query]] = lambda _: (),
) -> Examination:
    """Read `first`, what `follow` makes of the answers, then what the rules ask for, to the end.

    `follow` returns reads that were not made yet, and none when it has no more to ask for.
    Needs that the budget leaves unread are in `needs` of the last pass, never dropped in silence.
    """

    def unread() -> list[Query]:
        asked = follow(evidence) or examine(evidence, subjects, listen=listen).needs
        return [query for query in dict.fromkeys(asked) if evidence.get(query) is None]

    count = 0
    pending = list(dict.fromkeys(first)) or unread()
    while pending and count < max_reads:
        batch = pending[: max_reads - count]
        for observation in await _read(batch, count + 1, fetch):
            evidence.add(observation)
        count += len(batch)
        pending = unread()
    return examine(evidence, subjects, listen=listen)


async def _read(batch: Sequence[Query], first: int, fetch: Fetch) -> list[Observation]:
    """Read a batch, several at a time; answers in the order of the queries."""
    answers: dict[int, Observation] = {}
    limiter = anyio.CapacityLimiter(PARALLEL_READS)

    async def read(position: int, query: Query) -> None:
        async with limiter:
            answers[position] = await fetch(query, f"read_{first + position}")

    async with anyio.create_task_group() as group:
        for position, query in enumerate(batch):
            group.start_soon(read, position, query)
    return [answers[position] for position in sorted(answers)]
