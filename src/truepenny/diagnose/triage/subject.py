"""Finds what a question is about among the objects that there are."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .evidence import Evidence
from .finding import ObjectRef

EXACT, JOINED, PART, ALIKE = 10, 9, 6, 4
"""How well a word names an object: its name; its words; one word of it; nearly its name."""
PART_CHARS = 4
"""A part of a name counts from this length on: shorter ones (`api`, `db`) are in many names."""
ALIKE_RATIO = 0.84
"""Share of equal letters from which a longer word counts as a typing error (difflib's measure)."""

_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_PATH = re.compile(r"\b([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)\b")
# What people mean by a bare name, first to last.
_KINDS = (
    "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Service", "Ingress",
    "HorizontalPodAutoscaler", "PersistentVolumeClaim", "Certificate", "Pod", "Node", "Namespace",
)  # fmt: skip
WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job"})
"""Kinds that run something of their own."""
KIND_WORDS = {
    "pod": "Pod", "po": "Pod", "deployment": "Deployment", "deploy": "Deployment",
    "statefulset": "StatefulSet", "sts": "StatefulSet", "daemonset": "DaemonSet",
    "ds": "DaemonSet", "cronjob": "CronJob", "job": "Job", "service": "Service", "svc": "Service",
    "ingress": "Ingress", "ing": "Ingress", "hpa": "HorizontalPodAutoscaler",
    "autoscaler": "HorizontalPodAutoscaler", "pvc": "PersistentVolumeClaim",
    "horizontalpodautoscaler": "HorizontalPodAutoscaler",
    "persistentvolumeclaim": "PersistentVolumeClaim", "certificate": "Certificate",
    "node": "Node", "namespace": "Namespace", "ns": "Namespace",
}  # fmt: skip
"""Words for kinds, singular."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question names: objects, whole namespaces, and whether only parts of names fitted."""

    objects: tuple[ObjectRef, ...] = ()
    namespaces: tuple[str, ...] = ()
    guessed: bool = False

    @property
    def empty(self) -> bool:
        """Whether it names nothing."""
        return not self.objects and not self.namespaces

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The namespaces that are named and have none of the objects that are meant."""
        places = {ref.namespace for ref in self.objects}
        # A word that is an object's name as well was not meant as a place.
        called = {ref.name for ref in self.objects}
        if not self.objects or "" in places or places & set(self.namespaces):
            return ()
        return tuple(space for space in self.namespaces if space not in called)

    def misplaced(self, *, whole: bool) -> str:
        """Say that what is meant is not where it was looked for; empty where it is.

        `whole` says that all names of the cluster could be read.
        """
        if not self.elsewhere:
            return ""
        names = " or ".join(dict.fromkeys(ref.name for ref in self.objects))
        places = " or ".join(self.elsewhere)
        found = ", ".join(str(ref) for ref in self.objects[:3])
        limit = "" if whole else " in what I could read"
        return f"there is no {names} in namespace {places}{limit}; there is {found}"

    def touches(self, objects: Iterable[ObjectRef]) -> bool:
        """Whether any of the objects is meant."""
        return any(
            ref in self.objects or (not self.objects and self._within(ref)) for ref in objects
        )

    def _within(self, ref: ObjectRef) -> bool:
        space = ref.name if ref.kind == "Namespace" else ref.namespace
        return space in self.namespaces


def words_of(question: str) -> list[str]:
    """Return the words of a question, lower case, without punctuation."""
    return [match[0].lower() for match in _WORD.finditer(question)]


def find_subject(
    question: str, candidates: Sequence[ObjectRef], ignored: frozenset[str] = frozenset()
) -> Subject:
    """Match a question against objects; the best-fitting names win, all objects of a name count.

    `ignored` are words that mean something else (`failing`, `the`); they only count when they are
    the whole name of an object right after a word for its kind, or written as `kind/name`.
    """
    lowered = question.lower()
    paths = {(left, right) for left, right in _PATH.findall(lowered)}
    words = words_of(question)
    plain = [word for word in words if word not in ignored]
    joined = {f"{left}-{right}" for left, right in itertools.pairwise(words)}
    after_kind = {
        (KIND_WORDS[kind], word)
        for left, word in itertools.pairwise(words)
        if (kind := left.removesuffix("s")) in KIND_WORDS
    }
    namespaces = {ref.name for ref in candidates if ref.kind == "Namespace"}
    namespaces |= {ref.namespace for ref in candidates if ref.namespace}
    inside = tuple(sorted(space for space in namespaces if space in plain))
    scored: list[tuple[int, ObjectRef]] = []
    for ref in candidates:
        score = _score(ref, plain, joined, paths, after_kind)
        if score and ref.kind != "Namespace":
            if inside and ref.namespace in inside:
                score += 1
            scored.append((score, ref))
    if not scored:
        # A word that is usually no name (`app`) may be the name of a workload after all.
        said = set(words) - KIND_WORDS.keys()
        called = [ref for ref in candidates if ref.kind in WORKLOADS and ref.name in said]
        return Subject(tuple(sorted(called, key=_order)), inside)
    best = max(score for score, _ in scored)
    # A namespace named outright beats a part of some object's name.
    if best < JOINED and inside:
        return Subject(namespaces=inside)
    # A namespace and, say, an Ingress of one name: the whole is meant rather than the part.
    best_refs = [ref for score, ref in scored if score == best]
    if (
        best <= EXACT + 1
        and inside
        and all(ref.name in inside and ref.kind not in WORKLOADS for ref in best_refs)
    ):
        return Subject(namespaces=inside)
    chosen = [ref for score, ref in scored if score >= best - (0 if best > EXACT else 1)]
    chosen.sort(key=_order)
    leading = chosen[0].name
    same = [ref for ref in chosen if ref.name == leading or best >= JOINED]
    return Subject(tuple(dict.fromkeys(same)), inside, guessed=best < JOINED)


def candidates_of(evidence: Evidence) -> Iterable[ObjectRef]:
    """Return every object of the evidence that a question may mean."""
    for kind in (
        "namespaces", "deployments", "statefulsets", "daemonsets", "cronjobs", "jobs", "services",
        "ingresses", "horizontalpodautoscalers", "persistentvolumeclaims",
        "certificates.cert-manager.io", "pods", "nodes",
    ):  # fmt: skip
        for item in evidence.items(kind):
            yield item.ref
    for row in evidence.by_row:
        yield ObjectRef("Pod", row.namespace, row.name)


def _score(
    ref: ObjectRef,
    plain: list[str],
    joined: set[str],
    paths: set[tuple[str, str]],
    after_kind: set[tuple[str, str]],
) -> int:
    name = ref.name.lower()
    if (ref.namespace, name) in paths or (ref.kind, name) in after_kind:
        return EXACT + 2
    if any(KIND_WORDS.get(kind.removesuffix("s")) == ref.kind and name == n for kind, n in paths):
        return EXACT + 2
    if name in plain or (f"{name}s" in plain) or (name.endswith("s") and name[:-1] in plain):
        return EXACT
    if name in joined:
        return JOINED
    parts = name.split("-")
    if ref.kind == "Pod":
        # A pod's own name is its workload's and a suffix: the workload is the better answer.
        return 0
    for word in plain:
        if len(word) >= PART_CHARS and word in parts:
            return PART
        if len(word) > PART_CHARS and abs(len(word) - len(name)) <= 2 and _alike(word, name):
            return ALIKE
    return 0


def _alike(word: str, name: str) -> bool:
    return difflib.SequenceMatcher(None, word, name).ratio() >= ALIKE_RATIO


def _order(ref: ObjectRef) -> tuple[int, str, str]:
    place = _KINDS.index(ref.kind) if ref.kind in _KINDS else len(_KINDS)
    return place, ref.namespace, ref.name
