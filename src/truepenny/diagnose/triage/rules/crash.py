"""Containers that stop: killed for memory, by a probe, or by their own error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truepenny.diagnose.triage.case import Case, quote, quote_event
from truepenny.diagnose.triage.container import Container, limit_of, lower
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import mapping, name, namespace, number, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote, Severity
from truepenny.diagnose.triage.observation import Observation
from truepenny.diagnose.triage.query import logs
from truepenny.diagnose.triage.table import exit_codes, last_match

from . import dependency
from .group import grouped
from .policy import blocking
from .revision import revisions, rollouts
from .silence import silence

_BY_CUSTOM = frozenset({"crash_unexplained", "crash_usage", "crash_configuration"})
"""Causes that a program's own choice of exit code hints at and nothing proves."""

_KILLED_BY_PROBE = ("failed liveness probe", "failed startup probe")


def out_of_memory(case: Case) -> Iterator[Finding]:
    """A container that the kernel kills because it reached its memory limit, now."""
    for group in grouped(case, lambda c: _memory_killed(c) and c.crashing(case.now)):
        container, on = group.container, group.owner
        limit = container.memory_limit
        evidence = [termination(group.item, container)]
        if limit:
            path = f"spec.containers[{container.name}].resources.limits.memory={limit}"
            evidence.append(quote(group.item.source, path))
        lowered, history = _lowered_limit(case, on, container)
        evidence += history
        yield case.finding(
            "out_of_memory_lowered" if lowered else "out_of_memory",
            on,
            evidence,
            confidence=Confidence.HIGH,
            because="the container runtime reports OOMKilled",
            container=container.name,
            pod=name(container.pod),
            limit=limit or "the node's memory (no limit is set)",
            before=lowered,
            restarts=container.restarts,
            pods=group.count,
        )


def probe_kill(case: Case) -> Iterator[Finding]:
    """A container that the kubelet restarts because its liveness or startup probe fails."""
    for group in grouped(case, lambda c: not c.init and c.crashing(case.now)):
        if _memory_killed(group.container):
            continue
        kills = _probe_kills(case, group.item)
        if not kills:
            continue
        container = group.container
        said = case.events(group.item.ref, "Unhealthy")
        before = logs(
            namespace(group.item.obj), name(group.item.obj), container.name, previous=True,
            why=f"what {container.name} did before it was killed",
        )  # fmt: skip
        answer = case.read(before) if container.restarts else None
        spoken = [line for line in (answer.text if answer else "").splitlines() if line.strip()]
        kind = "startup" if "startup" in text(kills[0].obj, "message") else "liveness"
        probes = [e for e in said if text(e.obj, "message").lower().startswith(kind)]
        yield case.finding(
            "probe_kills",
            group.owner,
            [
                quote_event(kills[0]),
                *(quote_event(event) for event in probes[:1]),
                *([termination(group.item, container)] if container.termination else []),
                *([quote(answer, spoken[-1].strip())] if answer and spoken else []),
            ],
            confidence=Confidence.HIGH,
            because="the kubelet's event says that it killed the container for the probe",
            container=container.name,
            pod=name(container.pod),
            probe=kind,
            allowed=_allowed(container, kind),
            restarts=container.restarts,
        )


def crash_loop(case: Case) -> Iterator[Finding]:
    """A container that ends by itself again and again; its log says why, else its exit code."""
    for group in grouped(case, lambda c: c.crashing(case.now) and not _memory_killed(c)):
        container = group.container
        if group.owner.kind in ("Job", "CronJob"):
            continue
        if not container.init and _probe_kills(case, group.item):
            continue
        yield explain(case, group.item, container, group.owner)


def explain(
    case: Case, item: Item, container: Container, on: ObjectRef, *, job: bool = False
) -> Finding:
    """Explain why a container ended: by its log, then by its exit code, then not at all."""
    evidence: list[Quote] = []
    if container.termination:
        evidence.append(termination(item, container))
    elif container.waiting:
        evidence.append(
            quote(item.source, f"{container.path}.state.waiting.reason={container.waiting}")
        )
    # While a container waits for its next start, its last run's log is the current or the previous
    # one, depending on the runtime; `--previous` is right whenever there was a restart.
    previous = container.restarts > 0
    query = logs(
        namespace(item.obj), name(item.obj), container.name, previous=previous,
        why=f"what {container.name} said before it stopped",
    )  # fmt: skip
    answer = case.read(query)
    not_checked: list[str] = []
    lines = answer.text.splitlines() if answer and answer.status.readable else []
    if answer is not None and not answer.status.readable:
        not_checked.append(f"{query.command}: {answer.reason or answer.status}")
    lines = [line for line in lines if line.strip()]
    told = last_match("log", lines)
    # The kubelet keeps what a container wrote to its termination message, also without its log.
    kept = [line for line in text(container.termination, "message").splitlines() if line.strip()]
    spoken: Observation | None = answer
    if kept and (told is None or told[0].generic):
        written = last_match("log", kept)
        if written and (told is None or not written[0].generic):
            told, spoken = written, item.source
    words: dict[str, Any] = {
        "container": container.name,
        "pod": name(item.obj),
        "restarts": container.restarts,
        "code": "unknown" if container.exit_code is None else container.exit_code,
        "flag": " --previous" if previous else "",
    }
    init = container.init
    code = container.exit_code
    known = exit_codes().get(code) if code is not None else None
    # A code that names one fault says more than a line that is merely an error.
    if told and told[0].generic and known and known.cause != "crash_unexplained" and code:
        told = None
    if told and spoken:
        pattern, found, line = told
        words["note"] = ""
        if pattern.cause == "dns_failure":
            words["note"] = dependency.missing_service(
                case, on.namespace, words | captured(found.groupdict())
            )
        words |= settings_source(item, container, str(words.get("path", "")))
        words |= captured(found.groupdict())
        place = "" if spoken is answer else f"{container.termination_path}.message: "
        evidence.append(quote(spoken, f"{place}{line.strip()}"))
        between = between_them(case, item, pattern.cause, words, evidence)
        return case.finding(
            pattern.cause,
            on,
            evidence,
            confidence=Confidence.MEDIUM,
            because="the container's own log says so"
            if spoken is answer
            else "the container's own termination message says so",
            about=[*settings_refs(on.namespace, words), *between],
            explained_by=dependency.explanations(case, pattern.cause, on.namespace, words),
            not_checked=not_checked,
            severity=Severity.CRITICAL,
            part=f"init container {container.name}" if init else f"container {container.name}",
            **words,
        )
    if answer and lines:
        evidence.append(quote(answer, lines[-1].strip()))
    if kept:
        evidence.append(quote(item.source, f"{container.termination_path}.message: {kept[-1]}"))
    changed, _, unread = rollouts(case, on)
    evidence += changed
    not_checked += unread
    cause = known.cause if known else "crash_unexplained"
    if job and cause == "exits_at_once":
        cause = "crash_unexplained"
    return case.finding(
        cause,
        on,
        evidence,
        confidence=Confidence.LOW if cause in _BY_CUSTOM else Confidence.MEDIUM,
        because="no known message is in its log" if lines else "only the exit code tells",
        not_checked=[*not_checked, *([] if answer else [f"{query.command}: not read yet"])],
        severity=Severity.CRITICAL,
        silence=silence(answer, lines),
        meaning=known.meaning if known else "a code of the program's own",
        part=f"init container {container.name}" if init else f"container {container.name}",
        **words,
    )


def between_them(
    case: Case, item: Item, cause: str, words: dict[str, Any], evidence: list[Quote]
) -> list[ObjectRef]:
    """Look for network policies where something got no answer; their names go into the words."""
    if cause != "dependency_timeout":
        return []
    found = blocking(case, item, words, evidence)
    words["policies"] = ", ".join(str(ref) for ref in found)
    return found


def settings_source(item: Item, container: Container, path: str) -> dict[str, Any]:
    """Name the ConfigMap or Secret that a container reads a file from, or its environment."""
    volumes = {text(each, "name"): each for each in objects(item.obj, "spec", "volumes")}
    mounts = sorted(
        objects(container.spec, "volumeMounts"),
        key=lambda mount: len(text(mount, "mountPath")),
        reverse=True,
    )
    holders: list[tuple[str, str]] = []
    for mount in mounts:
        volume = volumes.get(text(mount, "name"), {})
        within = text(mount, "mountPath").rstrip("/")
        holder = ("ConfigMap", text(volume, "configMap", "name"))
        if not holder[1]:
            holder = ("Secret", text(volume, "secret", "secretName"))
        # With a path only the mount over it counts; without one any mounted ConfigMap may be it.
        if holder[1] and (path == within or path.startswith(f"{within}/") or not path):
            holders.append(holder)
    files = [f"{kind} {held}" for kind, held in holders if path or kind == "ConfigMap"]
    sources = [
        f"{kind} {text(each, key, 'name')}"
        for each in objects(container.spec, "envFrom")
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))
        if text(each, key, "name")
    ]
    return {"holder": " and ".join(files[: 1 if path else 2]), "sources": ", ".join(sources)}


def settings_refs(within: str, words: Mapping[str, Any]) -> list[ObjectRef]:
    """Return the objects that `settings_source` named."""
    found: list[ObjectRef] = []
    for part in str(words.get("holder") or "").split(" and "):
        kind, _, held = part.partition(" ")
        if held:
            found.append(ObjectRef(kind, within, held))
    return found


def captured(groups: dict[str, str | None]) -> dict[str, Any]:
    """Return a pattern's named groups without their numbering (`host2` is `host`)."""
    return {key.rstrip("0123456789"): value for key, value in groups.items() if value}


def _memory_killed(container: Container) -> bool:
    return text(container.termination, "reason") == "OOMKilled"


def _probe_kills(case: Case, item: Item) -> list[Item]:
    return [
        event
        for event in case.events(item.ref, "Killing")
        if any(word in text(event.obj, "message") for word in _KILLED_BY_PROBE)
        and case.recent(event)
    ]


def _allowed(container: Container, kind: str) -> int | None:
    """Seconds from a start to the kill; None when a startup probe delays the liveness probe."""
    probe = mapping(container.spec, f"{kind}Probe")
    if not probe or (kind == "liveness" and mapping(container.spec, "startupProbe")):
        return None
    # Defaults of the Kubernetes API for what a probe leaves out.
    period = number(probe, "periodSeconds") or 10
    return number(probe, "initialDelaySeconds") + period * (number(probe, "failureThreshold") or 3)


def termination(item: Item, container: Container) -> Quote:
    """Quote how a container ended."""
    ended = container.termination
    parts = [f"reason={text(ended, 'reason') or 'unknown'}"]
    if container.exit_code is not None:
        parts.append(f"exitCode={container.exit_code}")
    if number(ended, "signal"):
        parts.append(f"signal={number(ended, 'signal')}")
    if text(ended, "finishedAt"):
        parts.append(f"finishedAt={text(ended, 'finishedAt')}")
    parts.append(f"restartCount={container.restarts}")
    return quote(
        item.source, f"Pod {name(item.obj)}: {container.termination_path}: {' '.join(parts)}"
    )


def _lowered_limit(case: Case, on: ObjectRef, container: Container) -> tuple[str, list[Quote]]:
    """Look whether an earlier revision of the workload had a higher memory limit."""
    if not container.memory_limit:
        return "", []
    kept = revisions(case, on)
    if len(kept) < 2:
        return "", []
    before = limit_of(kept[1][1].obj, container.name, "memory")
    if not before or not lower(container.memory_limit, before):
        return "", []
    number_before, old = kept[1]
    number_now, new = kept[0]
    excerpt = (
        f"ReplicaSet {name(old.obj)} (revision {number_before}) limits.memory={before}; "
        f"ReplicaSet {name(new.obj)} (revision {number_now}) "
        f"limits.memory={limit_of(new.obj, container.name, 'memory')}"
    )
    return before, [quote(old.source, excerpt)]
