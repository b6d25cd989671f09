"""What is over: containers that ended and run again, read while somebody still keeps the words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from truepenny.diagnose.triage.age import since
from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.fields import moment, name, namespace, text
from truepenny.diagnose.triage.finding import Confidence, Finding, Quote
from truepenny.diagnose.triage.query import logs
from truepenny.diagnose.triage.table import last_match

from .crash import termination
from .group import Group, grouped
from .silence import silence

LATELY = timedelta(hours=1)
"""A container that ended within it is listened to: as long as a cluster keeps its events."""
MOST_PREVIOUS = 4
"""Logs of ended runs read in one examination, the latest first: each costs a read."""


def past_restarts(case: Case) -> Iterator[Finding]:
    """Containers that failed and are fine now: stated with what they said, and no incident."""
    groups = list(grouped(case, lambda c: not c.init and c.recovered(case.now)))
    groups.sort(key=lambda group: _ended(group) or case.now, reverse=True)
    late = [group for group in groups if _late(case, group)]
    for group in groups:
        yield _past(case, group, listen=group in late[:MOST_PREVIOUS])


def _past(case: Case, group: Group, *, listen: bool) -> Finding:
    container, item = group.container, group.item
    evidence: list[Quote] = [termination(item, container)]
    query = logs(
        namespace(item.obj), name(item.obj), container.name, previous=True,
        why=f"what {container.name} said before it was restarted",
    )  # fmt: skip
    answer = case.read(query) if listen else None
    lines = answer.text.splitlines() if answer and answer.status.readable else []
    lines = [line for line in lines if line.strip()]
    kept = [line for line in text(container.termination, "message").splitlines() if line.strip()]
    told = last_match("log", lines)
    if answer and lines:
        evidence.append(quote(answer, (told[2] if told else lines[-1]).strip()))
    if told is None and kept:
        told = last_match("log", kept)
        spoken = (told[2] if told else kept[-1]).strip()
        evidence.append(quote(item.source, f"{container.termination_path}.message: {spoken}"))
    not_checked: list[str] = []
    if answer is None:
        not_checked.append(f"{query.command}: not read")
    elif not answer.status.readable:
        not_checked.append(f"{query.command}: {answer.reason or answer.status}")
    if container.restarts > 1:
        # The API holds one last state: of those before it nothing but their number is left.
        not_checked.append(
            f"how the {container.restarts - 1} earlier runs ended: only the last one is kept"
        )
    made = moment(item.obj, "metadata", "creationTimestamp")
    return case.finding(
        "restarted_in_the_past",
        group.owner,
        evidence,
        confidence=Confidence.HIGH,
        because="the container runs and is ready now",
        not_checked=not_checked,
        container=container.name,
        pod=name(container.pod),
        code=container.exit_code,
        restarts="1 restart" if container.restarts == 1 else f"{container.restarts} restarts",
        age=since(made, case.now),
        when=text(container.termination, "finishedAt") or "an unknown time",
        why=told[0].cause.replace("_", " ") if told else "",
        silence="" if told or not listen else silence(answer, lines),
    )


def _ended(group: Group) -> datetime | None:
    return moment(group.container.termination, "finishedAt")


def _late(case: Case, group: Group) -> bool:
    """Whether its last end is news, or it is what a person asked about."""
    ended = _ended(group)
    return group.owner in case.subjects or ended is None or case.now - ended <= LATELY
