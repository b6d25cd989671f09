"""What to read next in one cluster: survey, then stages, then what the rules ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from truepenny.diagnose.triage.engine import Examination, examine
from truepenny.diagnose.triage.evidence import Evidence
from truepenny.diagnose.triage.finding import ObjectRef, Severity
from truepenny.diagnose.triage.link import Incident
from truepenny.diagnose.triage.observation import Observation, Status, observe, status_of
from truepenny.diagnose.triage.query import CLUSTER_WIDE, Query, listing, one
from truepenny.diagnose.triage.subject import Subject, candidates_of, find_subject
from truepenny.diagnose.triage.survey import PodRow, read_pods, troubled

from .history import Answered
from .intent import Question
from .playbook import LISTEN, SYSTEM, Playbook, choose, vocabulary
from .survey import (
    FIRST,
    HERE,
    NAMESPACES,
    PODS,
    THINGS,
    read_names,
    read_namespaces,
    workloads,
)

WHOLE_PODS = 300
"""Up to this many pods are read in full: their JSON, some 4 KB each, must fit a tool result."""
WIDE_NAMESPACES = 5
"""Namespaces read in full of a larger cluster: those with the most pods that look wrong."""
SINGLE_PODS = 8
"""Pods read one by one where their namespace's list was cut."""
MOST_GUESSES = 5
"""Namespaces tried where their list is refused."""
NEEDS_AT_ONCE = 8
"""Reads that the rules ask for, made in one round."""

SYMPTOMS = frozenset(
    {"unavailable", "rollout_stuck", "service_without_endpoints", "ingress_backend_down"}
)
"""Causes that say what does not work and not why: with one of them as the root, it goes on."""

UNEXPLAINED = frozenset(
    {"crash_unexplained", "image_pull_failed", "not_ready", "pending_unexplained"}
)
"""Causes that state a certain fact and say themselves that its reason was not found."""

_SPACE = re.compile(r"[a-z0-9][a-z0-9-]{1,62}")
_SYSTEM = "kube-system"


@dataclass(slots=True)
class Look:
    """One cluster as seen so far. `name` is empty when there is only one and it is not named."""

    name: str
    evidence: Evidence
    answers: dict[tuple[str, ...], Answered] = field(
        default_factory=dict[tuple[str, ...], Answered]
    )

    def text(self, query: Query) -> str:
        """The text of a successful read, else an empty string."""
        found = self.answers.get(query.argv)
        return found.body if found and found.outcome in ("success", "truncated") else ""

    def failed(self, query: Query) -> str:
        """The reason of a read that gave nothing, else an empty string."""
        found = self.answers.get(query.argv)
        if found is None or found.outcome in ("success", "truncated", "no_match"):
            return ""
        return found.reason or found.outcome

    @property
    def hidden(self) -> tuple[Query, ...]:
        """What of the survey could not be read in full: a name may be there."""
        answers = [(query, self.answers.get(query.argv)) for query in FIRST]
        return tuple(
            query
            for query, call in answers
            if call is None
            or not call.whole
            or call.outcome not in ("success", "truncated", "no_match")
        )

    @property
    def pods(self) -> list[PodRow]:
        """The pods of the survey."""
        found: list[PodRow] = []
        for argv, call in self.answers.items():
            if argv[:2] == ("get", "pods") and "wide" in argv and call.outcome == "success":
                place = argv[argv.index("-n") + 1] if "-n" in argv else call.namespace
                found += read_pods(call.body, place)
        return list(dict.fromkeys(found))

    @property
    def candidates(self) -> list[ObjectRef]:
        """Everything with a name that was seen."""
        known = read_namespaces(self.text(NAMESPACES)) + read_names(self.text(THINGS))
        # What Deployments there are is not in the table where listing them was refused.
        seen = [*known, *(workloads(self.pods, known) if known else ())]
        seen += [ObjectRef("Namespace", "", row.namespace) for row in self.pods]
        seen += candidates_of(self.evidence)
        return list(dict.fromkeys(seen))


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do about one cluster: reads to make, or, with none, what it came to.

    `unreachable` is the reason why nothing could be read. `absent` names what the question asks
    for and the cluster does not have.
    """

    look: Look
    reads: tuple[Query, ...] = ()
    subject: Subject = field(default_factory=Subject)
    playbook: Playbook | None = None
    examination: Examination | None = None
    unreachable: str = ""
    absent: tuple[str, ...] = ()
    scope: tuple[str, ...] | None = None
    skipped: int = 0
    stage: int = 0
    """The stage that `reads` belong to, from 0."""


def look_at(name: str, calls: Sequence[Answered], now: datetime) -> Look:
    """Rebuild what is known of a cluster from its answered calls; a later answer wins."""
    latest = {call.argv: call for call in calls if call.tool == "kubectl" and call.argv}
    evidence = Evidence(now)
    for call in latest.values():
        evidence.add(observation(call))
    return Look(name, evidence, dict(latest))


def observation(call: Answered) -> Observation:
    """Turn an answered kubectl call into an observation."""
    status = status_of(call.outcome, call.reason)
    reason = call.reason or ("" if status.readable else call.outcome)
    return observe(call.id, call.argv, status, call.body, reason)


def plan(look: Look, question: Question, earlier: Subject | None = None) -> Plan:
    """Decide what to read next. `earlier` is what a question before this one was about."""
    missing = tuple(query for query in FIRST if query.argv not in look.answers)
    if missing:
        return Plan(look, missing)
    unreachable = look.failed(PODS)
    if unreachable and unreachable != "forbidden":
        return Plan(look, unreachable=unreachable)
    if unreachable:
        guesses = [query for query in _guesses(look, question) if query.argv not in look.answers]
        if guesses:
            return Plan(look, tuple(guesses))
        if not look.pods and not look.text(NAMESPACES) and not look.text(THINGS):
            return Plan(look, unreachable=unreachable)
    subject = find_subject(question.text, look.candidates, vocabulary().ignored)
    if subject.empty and not question.names and earlier is not None:
        subject = earlier
    playbook = choose(question.words, [ref.kind for ref in subject.objects[:1]])
    absent: tuple[str, ...] = ()
    if subject.empty and question.names and not _means_all(question, look):
        absent = question.names
        # A word that speaks of a whole domain is worth a look at it; a mere name is not, unless
        # the names could not be read: the objects themselves may have it.
        if not playbook.words and (THINGS not in look.hidden or PODS in look.hidden):
            return Plan(look, absent=absent, examination=examine(look.evidence))
    scope, skipped = _scope(look, subject, question)
    return _stages(Plan(look, (), subject, playbook, absent=absent, scope=scope, skipped=skipped))


def _stages(begun: Plan) -> Plan:
    look, playbook, subject = begun.look, begun.playbook, begun.subject
    if playbook is None:
        return begun
    listen = False
    examination = examine(look.evidence, subject.objects)
    for number, stage in enumerate(playbook.stages):
        wanted = [query for entry in stage for query in _entry(entry, begun.scope)]
        wanted = [query for query in wanted if look.evidence.get(query) is None]
        if wanted:
            return replace(_reading(begun, wanted), stage=number)
        cut = _cut_pods(look, begun.scope)
        if cut:
            return _reading(begun, cut)
        listen = listen or LISTEN in stage
        examination = examine(look.evidence, subject.objects, listen=listen)
        needs = [query for query in examination.needs if look.evidence.get(query) is None]
        if needs:
            return _reading(begun, needs[:NEEDS_AT_ONCE])
        if subject.objects and any(explains(each, subject) for each in examination.incidents):
            break
    return replace(begun, reads=(), examination=examination)


def explains(incident: Incident, subject: Subject) -> bool:
    """Whether an incident is about the subject and its root is a cause, not a symptom."""
    root = incident.root
    if not subject.touches(incident.objects) or root.severity is Severity.INFO:
        return False
    return root.cause not in SYMPTOMS


def _reading(begun: Plan, queries: Sequence[Query]) -> Plan:
    return replace(begun, reads=tuple(queries))


def _entry(entry: str, scope: tuple[str, ...] | None) -> list[Query]:
    if entry == LISTEN:
        return []
    if entry == SYSTEM:
        if scope is None:
            return []
        return [listing(group, _SYSTEM) for group in ("pods", "workloads", "events")]
    if entry in CLUSTER_WIDE:
        return [listing(entry, None)]
    return [listing(entry, None)] if scope is None else [listing(entry, space) for space in scope]


def _scope(look: Look, subject: Subject, question: Question) -> tuple[tuple[str, ...] | None, int]:
    """Return the namespaces to read, None for all at once, and how many are left out."""
    named = {ref.namespace for ref in subject.objects if ref.namespace}
    named |= {ref.name for ref in subject.objects if ref.kind == "Namespace"}
    named |= set(() if subject.objects else subject.namespaces)
    if named:
        return tuple(sorted(named)), 0
    rows = look.pods
    spaces = {row.namespace for row in rows}
    if look.failed(PODS):
        return (tuple(sorted(spaces)) or None), 0
    if len(rows) <= WHOLE_PODS:
        return None, 0
    ranked = troubled(rows)[:WIDE_NAMESPACES]
    return tuple(ranked), len(spaces) - len(ranked)


def _guesses(look: Look, question: Question) -> list[Query]:
    """Where reading across namespaces is forbidden: the namespaces that may be meant.

    Those that the question names; without a list of namespaces, any word of it that could be one.
    """
    known = {ref.name for ref in read_namespaces(look.text(NAMESPACES))}
    ignored = vocabulary().ignored
    words = [word for word in dict.fromkeys(question.words) if _SPACE.fullmatch(word)]
    words = [word for word in words if word in known or (not known and word not in ignored)]
    spaces = words or sorted(known)
    return [HERE, *(Query(("get", "pods", "-n", s, "-o", "wide")) for s in spaces[:MOST_GUESSES])]


def _cut_pods(look: Look, scope: tuple[str, ...] | None) -> list[Query]:
    """Single reads of pods that look wrong in the table and are behind the cut of a list."""
    wanted: list[Query] = []
    for row in look.pods:
        if not row.suspicious or (scope is not None and row.namespace not in scope):
            continue
        if look.evidence.status("pods", row.namespace) is not Status.TRUNCATED:
            continue
        if look.evidence.find(ObjectRef("Pod", row.namespace, row.name)) is None:
            wanted.append(one("pod", row.namespace, row.name, "behind the cut of the list"))
    return [query for query in wanted[:SINGLE_PODS] if look.evidence.get(query) is None]


def _means_all(question: Question, look: Look) -> bool:
    """Whether the words in a name's place mean the cluster itself."""
    return all(name in (look.name, "cluster", "demo") for name in question.names)
