"""What a rule sees of a case: the evidence, a way to ask for more, and a way to conclude."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .age import span
from .evidence import Evidence, Item
from .fields import Object, labels, mapping, moment, name, namespace, number, objects, text
from .finding import QUOTE_CHARS, Confidence, Finding, ObjectRef, Quote, Severity, Step
from .observation import Observation, Status
from .query import CLUSTER_WIDE, GROUP_OF, Query, command, listing, one
from .table import causes

RECENT = timedelta(minutes=30)
"""An event or termination older than this is the past unless the object still shows the state."""

_JOB_SUFFIX = re.compile(r"-\d{6,}$")
_OPTIONAL = re.compile(r"\[([^\[\]|]*)\|([^\[\]|]*)\]")
_HOLE = "?"
_HASHED = re.compile(r"-[a-z0-9]{6,10}$")


@dataclass(slots=True)
class Case:
    """One examination of the evidence as it stands; rules never change the evidence."""

    evidence: Evidence
    subjects: tuple[ObjectRef, ...] = ()
    """The workloads whose healthy pods are listened to, too."""
    needs: dict[Query, str] = field(default_factory=dict[Query, str])
    gaps: dict[str, str] = field(default_factory=dict[str, str])
    """What could not be read, by what it is: the status word."""
    _events: dict[ObjectRef, list[Item]] | None = None

    @property
    def now(self) -> datetime:
        """The time that ages are measured against."""
        return self.evidence.now

    # Reading

    def all(self, kind: str, within: str | None = None) -> list[Item]:
        """Return what was read of a kind; asks for nothing."""
        return self.evidence.items(kind, within)

    def require(self, kind: str, within: str, why: str = "") -> list[Item]:
        """Return the objects of a kind in a namespace, and ask for them if they were not read.

        An empty answer may mean "not read yet", "refused" or "none": `known` tells which.
        """
        if self.evidence.status(kind, within) is None:
            group = GROUP_OF[kind]
            self.needs.setdefault(
                listing(group, None if group in CLUSTER_WIDE else within, why), why
            )
        elif not self.known(kind, within):
            self.gap(f"{kind} in {within}" if within else kind, self._word(kind, within))
        return self.evidence.items(kind, within)

    def known(self, kind: str, within: str) -> bool:
        """Whether the list of a kind was answered whole: only then does absence mean anything."""
        return self.evidence.status(kind, within) in (Status.OK, Status.NO_MATCH)

    def read(self, query: Query) -> Observation | None:
        """Return the answer to any read, asking for it if it was not made yet."""
        found = self.evidence.get(query)
        if found is None:
            self.needs.setdefault(query, query.why)
        elif not found.status.readable:
            self.gap(query.command, found.reason or str(found.status))
        return found

    def fetch(self, kind: str, ref: ObjectRef, why: str = "") -> Item | None:
        """Return one object by name, from what was listed or by its own read."""
        found = self.evidence.find(ref)
        if found or self.known(kind, ref.namespace):
            return found
        answer = self.read(one(kind, ref.namespace, ref.name, why))
        if answer and answer.objects:
            return Item(answer.objects[0], answer)
        return None

    def gap(self, what: str, word: str) -> None:
        """Record something that could not be read."""
        self.gaps.setdefault(what, word)

    def _word(self, kind: str, within: str) -> str:
        return str(self.evidence.status(kind, within) or "not read")

    # Relations

    def events(self, ref: ObjectRef, *reasons: str) -> list[Item]:
        """Return the events about an object, newest first, of the given reasons if any."""
        if self._events is None:
            self._events = {}
            for item in self.all("events"):
                about = mapping(item.obj, "involvedObject") or mapping(item.obj, "regarding")
                where = text(about, "namespace")
                key = ObjectRef(text(about, "kind"), where, text(about, "name"))
                self._events.setdefault(key, []).append(item)
            for found in self._events.values():
                found.sort(key=lambda item: event_time(item.obj) or self._epoch, reverse=True)
        found = self._events.get(ref) or ()
        return [item for item in found if not reasons or text(item.obj, "reason") in reasons]

    @property
    def _epoch(self) -> datetime:
        return self.now - timedelta(days=36500)

    def recent(self, item: Item, within: timedelta = RECENT) -> bool:
        """Whether an event happened recently; one without a time is taken as recent."""
        when = event_time(item.obj)
        return when is None or self.now - when <= within

    def owner(self, obj: Object) -> ObjectRef:
        """Return the workload that an object belongs to: the top of its owner chain, or itself.

        Where a link of the chain was not read, the name is taken from the naming scheme of the
        controllers (`deployment-<template hash>`, `cronjob-<minutes>`).
        """
        here = namespace(obj)
        owners = list(objects(obj, "metadata", "ownerReferences"))
        if not owners:
            return ObjectRef(text(obj, "kind"), here, name(obj))
        chosen = next((ref for ref in owners if ref.get("controller") is True), owners[0])
        ref = ObjectRef(text(chosen, "kind"), here, text(chosen, "name"))
        parent = self.evidence.find(ref)
        if parent is not None:
            return self.owner(parent.obj)
        if ref.kind == "ReplicaSet" and _HASHED.search(ref.name):
            hashed = labels(obj, "metadata", "labels").get("pod-template-hash")
            if hashed is None or ref.name.endswith(f"-{hashed}"):
                return ObjectRef("Deployment", here, _HASHED.sub("", ref.name))
        if ref.kind == "Job" and _JOB_SUFFIX.search(ref.name):
            return ObjectRef("CronJob", here, _JOB_SUFFIX.sub("", ref.name))
        return ref

    def pods_of(self, ref: ObjectRef) -> list[Item]:
        """Return the pods that belong to a workload."""
        return [item for item in self.all("pods", ref.namespace) if self.owner(item.obj) == ref]

    def selected(self, selector: Mapping[str, str], within: str) -> list[Item]:
        """Return the pods that a selector picks; an empty selector picks none."""
        return [
            item
            for item in self.all("pods", within)
            if selector and selector.items() <= labels(item.obj, "metadata", "labels").items()
        ]

    # Concluding

    def finding(
        self,
        cause: str,
        on: ObjectRef,
        evidence: Iterable[Quote],
        *,
        confidence: Confidence,
        because: str,
        explained_by: Iterable[ObjectRef] = (),
        about: Iterable[ObjectRef] = (),
        not_checked: Iterable[str] = (),
        severity: Severity | None = None,
        **words: Any,
    ) -> Finding:
        """Build a finding of a cause; `words` fill the texts that causes.toml has for it."""
        known = causes()[cause]
        filled = _Words(object=on, kind=on.kind.lower(), namespace=on.namespace, name=on.name)
        filled.update({key: value for key, value in words.items() if value is not None})
        steps: list[Step] = []
        if known.change:
            steps.append(Step(fill(known.change, filled)))
        if known.check:
            line = fill(known.check, filled)
            # A command with a hole would not run as it stands.
            if _HOLE not in line:
                steps.append(Step("To see more:", line))
        return Finding(
            rule=known.rule,
            cause=cause,
            object=on,
            sentence=fill(known.sentence, filled),
            severity=severity or Severity(known.severity),
            confidence=confidence,
            sure_because=because,
            evidence=tuple(evidence),
            steps=tuple(steps),
            not_checked=tuple(not_checked),
            explained_by=tuple(dict.fromkeys(explained_by)),
            about=tuple(dict.fromkeys(about)),
        )


class _Words(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return _HOLE


def fill(template: str, words: Mapping[str, object]) -> str:
    """Fill `{words}` in; `[with {word}|without]` takes the second form where a word is missing."""

    def choose(match: re.Match[str]) -> str:
        wanted = re.findall(r"{(\w+)}", match[1])
        return match[1] if all(words.get(key) not in (None, "") for key in wanted) else match[2]

    return _OPTIONAL.sub(choose, template).format_map(words)


def quote(source: Observation, excerpt: str) -> Quote:
    """Quote an answer, shortened where it is too long."""
    flat = " ".join(excerpt.split())
    cut = len(flat) > QUOTE_CHARS
    return Quote(source.id, command(source.argv), flat[:QUOTE_CHARS] + "…" * cut, cut)


def quote_event(item: Item) -> Quote:
    """Quote an event: its reason, its message, how often it was seen, and when."""
    count = number(item.obj, "count") or number(item.obj, "series", "count")
    first = moment(item.obj, "firstTimestamp") or moment(item.obj, "eventTime")
    last = event_time(item.obj)
    during = f" in {span(last - first)}" if first and last and last > first else ""
    until = f", last at {last:%Y-%m-%dT%H:%M:%SZ}" if last else ""
    times = f" (seen {count} times{during}{until})" if count > 1 else ""
    about = mapping(item.obj, "involvedObject")
    who = f"{text(about, 'kind')} {text(about, 'name')}: "
    message = text(item.obj, "message") or text(item.obj, "note")
    return quote(item.source, f"event {text(item.obj, 'reason')} on {who}{message}{times}")


def event_time(obj: Object) -> datetime | None:
    """Return when an event was last seen."""
    return (
        moment(obj, "series", "lastObservedTime")
        or moment(obj, "lastTimestamp")
        or moment(obj, "eventTime")
        or moment(obj, "metadata", "creationTimestamp")
    )


def message_of(item: Item) -> str:
    """Return an event's message."""
    return text(item.obj, "message") or text(item.obj, "note")
