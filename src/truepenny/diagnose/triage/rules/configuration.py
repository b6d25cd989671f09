"""Containers that cannot be made or started: missing keys, files, volumes, commands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from truepenny.diagnose.triage.case import Case, message_of, quote, quote_event
from truepenny.diagnose.triage.container import containers, running
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import name, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote
from truepenny.diagnose.triage.query import describe
from truepenny.diagnose.triage.table import match

from .crash import captured
from .group import grouped, pods_where

# How `kubectl describe` lists keys: a ConfigMap's underlined, a Secret's with their sizes.
_KEYS = re.compile(r"^([A-Za-z0-9_.-]+):\n-{4}$|^([A-Za-z0-9_.-]+):\s+\d+ bytes$", re.MULTILINE)
_CONFIG_WAITS = frozenset({"CreateContainerConfigError"})
_START_WAITS = frozenset({"RunContainerError", "CreateContainerError"})
_START_REASONS = frozenset({"StartError", "ContainerCannotRun"})


def container_config(case: Case) -> Iterator[Finding]:
    """A container whose configuration names a ConfigMap, Secret or key that is not there."""
    for group in grouped(case, lambda c: c.waiting in _CONFIG_WAITS):
        container = group.container
        said = f"{container.path}.state.waiting: {container.waiting}: {container.waiting_message}"
        evidence = [quote(group.item.source, f"Pod {name(group.item.obj)}: {said}")]
        yield _config(case, group.owner, container.name, container.waiting_message, evidence)


def container_start(case: Case) -> Iterator[Finding]:
    """A container that the runtime cannot start: its command is missing or may not be executed."""
    for group in grouped(
        case,
        lambda c: (
            c.waiting in _START_WAITS
            or (c.crashing(case.now) and text(c.termination, "reason") in _START_REASONS)
        ),
    ):
        container = group.container
        said = container.waiting_message or text(container.termination, "message")
        if container.waiting not in _START_WAITS:
            said = text(container.termination, "message") or said
        told = match("start", said)
        yield case.finding(
            told[0].cause if told else "container_start_failed",
            group.owner,
            [quote(group.item.source, f"Pod {name(group.item.obj)}: {container.path}: {said}")],
            confidence=Confidence.HIGH if told else Confidence.LOW,
            because="the container runtime's own error states it",
            container=container.name,
            part=f"container {container.name}",
            pod=name(container.pod),
            **(captured(told[1].groupdict()) if told else {}),
        )


def volume_mount(case: Case) -> Iterator[Finding]:
    """A pod that waits for a volume: what it mounts is missing, or attached to another node."""
    for owner, items in pods_where(case, lambda item: _creating(item)):
        events = case.events(items[0].ref, "FailedMount", "FailedAttachVolume")
        if not events:
            continue
        for event in events:
            said = message_of(event)
            if match("config", said):
                yield _config(case, owner, "", said, [quote_event(event)])
                break
        else:
            told = match("mount", message_of(events[0]))
            yield case.finding(
                told[0].cause if told else "volume_not_mounted",
                owner,
                [quote_event(events[0])],
                confidence=Confidence.MEDIUM,
                because="the kubelet's event states it",
                pod=name(items[0].obj),
                **(captured(told[1].groupdict()) if told else {}),
            )


def sandbox(case: Case) -> Iterator[Finding]:
    """A pod whose sandbox cannot be made: the node's network plugin or runtime fails."""
    for owner, items in pods_where(case, lambda item: _creating(item)):
        events = [
            event
            for event in case.events(items[0].ref, "FailedCreatePodSandBox")
            if case.recent(event)
        ]
        if events:
            node = text(items[0].obj, "spec", "nodeName")
            yield case.finding(
                "sandbox_failed",
                owner,
                [quote_event(events[0])],
                confidence=Confidence.MEDIUM,
                because="the kubelet's event states it",
                explained_by=[ObjectRef("Node", "", node)],
                pod=name(items[0].obj),
                node=node,
            )


def _config(case: Case, on: ObjectRef, container: str, said: str, evidence: list[Quote]) -> Finding:
    told = match("config", said)
    words: dict[str, Any] = captured(told[1].groupdict()) if told else {}
    holder = str(words.get("holder", "")).lower()
    kind = "Secret" if "secret" in holder else "ConfigMap"
    missing = str(words.get("missing", ""))
    about = [ObjectRef(kind, on.namespace, missing)] if missing else []
    if missing and words.get("key"):
        # What the holder does have shows whether the key is misspelt. Describing a Secret shows
        # its keys and sizes, never a value.
        answer = case.read(
            describe(kind.lower(), on.namespace, missing, f"which keys {kind} {missing} has")
        )
        found = near_keys(answer.text, str(words["key"])) if answer else []
        if answer and found:
            evidence = [*evidence, quote(answer, f"{kind} {missing} has: {', '.join(found)}")]
            words["near"] = f" (it has {', '.join(found)})"
    words = {"near": "", "container": container} | words | {"holder": kind, "missing": missing}
    return case.finding(
        told[0].cause if told else "config_refused",
        on,
        evidence,
        confidence=Confidence.HIGH if told else Confidence.LOW,
        because="the kubelet states which name it cannot find",
        about=about,
        **words,
    )


def near_keys(described: str, wanted: str) -> list[str]:
    """Return up to 8 key names of a described ConfigMap or Secret, most like `wanted` first."""
    data = described.find("\nData\n")
    if data < 0:
        return []
    keys = [match[1] or match[2] for match in _KEYS.finditer(described, data)]
    scored = sorted(keys, key=lambda k: -difflib.SequenceMatcher(None, k, wanted).ratio())
    return scored[:8]


def _creating(item: Item) -> bool:
    if not running(item.obj) or not text(item.obj, "spec", "nodeName"):
        return False
    waits = [
        c for c in containers(item.obj) if c.waiting in ("ContainerCreating", "PodInitializing")
    ]
    return bool(waits) and text(item.obj, "status", "phase") == "Pending"
