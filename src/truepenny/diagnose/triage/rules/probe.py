"""Pods that run and are not ready: what the readiness probe gets for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truepenny.diagnose.triage.case import Case, message_of, quote, quote_event
from truepenny.diagnose.triage.container import Container, containers, is_ready, running
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import at, mapping, name, namespace, number, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, Quote
from truepenny.diagnose.triage.query import logs
from truepenny.diagnose.triage.table import last_match, match

from . import dependency
from .crash import between_them, captured
from .group import pods_where


def readiness(case: Case) -> Iterator[Finding]:
    """A running container that is not ready: wrong port, an error status, a broken dependency."""
    for owner, items in pods_where(case, lambda item: _unready(case, item) is not None):
        item = items[0]
        container = _unready(case, item)
        if container is None:
            continue
        events = [
            event
            for event in case.events(item.ref, "Unhealthy")
            if message_of(event).startswith(("Readiness probe", "Startup probe"))
        ]
        state = f"Pod {name(item.obj)}: {container.path}: ready=false, state.running"
        evidence = [quote(item.source, state)]
        if not events:
            case.require("events", namespace(item.obj), "what the probe answered")
            yield case.finding(
                "not_ready",
                owner,
                evidence,
                confidence=Confidence.LOW,
                because="no probe event was seen",
                container=container.name,
                pod=name(item.obj),
            )
            continue
        evidence.append(quote_event(events[0]))
        said = message_of(events[0])
        told = match("probe", said)
        cause = told[0].cause if told else "probe_fails"
        words: dict[str, Any] = {"container": container.name, "pod": name(item.obj)}
        words |= captured(told[1].groupdict()) if told else {}
        port, declared = _port(container), _declared(container)
        words |= {"port": port, "declared": ", ".join(declared)}
        if cause == "probe_refused" and port and declared and port not in declared:
            evidence.append(_ports(item, container, port, declared))
            yield case.finding(
                "probe_wrong_port",
                owner,
                evidence,
                confidence=Confidence.HIGH,
                because="the probe's port is not among the container's ports, and is refused",
                **words,
            )
            continue
        yield _with_log(case, item, container, cause, evidence, words)


def _with_log(
    case: Case,
    item: Item,
    container: Container,
    cause: str,
    evidence: list[Quote],
    words: dict[str, Any],
) -> Finding:
    """Conclude with what the container's log says about its own unreadiness."""
    owner = case.owner(item.obj)
    query = logs(
        namespace(item.obj), name(item.obj), container.name,
        why=f"why {container.name} does not answer its probe",
    )  # fmt: skip
    answer = case.read(query)
    lines = answer.text.splitlines() if answer and answer.status.readable else []
    told = last_match("log", [line for line in lines if line.strip()])
    if answer and told and not told[0].generic:
        pattern, found, line = told
        words = {**words, **captured(found.groupdict())}
        evidence = [*evidence, quote(answer, line.strip())]
        policies = between_them(case, item, pattern.cause, words, evidence)
        return case.finding(
            pattern.cause,
            owner,
            evidence,
            about=policies,
            confidence=Confidence.MEDIUM,
            because="the container's own log says so while its probe fails",
            explained_by=dependency.explanations(case, pattern.cause, owner.namespace, words),
            part=f"container {container.name}",
            note=dependency.missing_service(case, owner.namespace, words),
            flag="",
            restarts=container.restarts,
            code="none",
            **words,
        )
    if answer and told:
        evidence = [*evidence, quote(answer, told[2].strip())]
    not_checked = [] if answer and answer.status.readable else [f"{query.command}: not read"]
    return case.finding(
        cause,
        owner,
        evidence,
        confidence=Confidence.HIGH,
        because="the kubelet's event gives the probe's answer",
        not_checked=not_checked,
        **words,
    )


def _unready(case: Case, item: Item) -> Container | None:
    if not running(item.obj) or is_ready(item.obj):
        return None
    if text(item.obj, "status", "phase") != "Running":
        return None
    for container in containers(item.obj):
        if container.init or container.ready or container.crashing(case.now):
            continue
        if mapping(container.status, "state", "running") and _probed(container):
            return container
    return None


def _probed(container: Container) -> bool:
    return bool(
        mapping(container.spec, "readinessProbe") or mapping(container.spec, "startupProbe")
    )


def _port(container: Container) -> str:
    """Return the probe's port as a number or name, empty when it has none."""
    for handler in ("httpGet", "tcpSocket", "grpc"):
        port = at(container.spec, "readinessProbe", handler, "port")
        if port is not None:
            return _named(container, str(port))
    return ""


def _named(container: Container, port: str) -> str:
    for each in objects(container.spec, "ports"):
        if text(each, "name") == port:
            return str(number(each, "containerPort"))
    return port


def _declared(container: Container) -> list[str]:
    return [str(number(each, "containerPort")) for each in objects(container.spec, "ports")]


def _ports(item: Item, container: Container, port: str, declared: list[str]) -> Quote:
    path = f"spec.containers[{container.name}]"
    return quote(
        item.source,
        f"{path}.readinessProbe port={port}; {path}.ports containerPort={','.join(declared)}",
    )
