"""Services without endpoints and ingresses without a backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.container import is_ready, running
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import at, labels, mapping, name, number, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote

from . import dependency


def service_selector(case: Case) -> Iterator[Finding]:
    """A Service whose selector picks no pod, although the namespace has pods it could mean."""
    for item in _selecting(case):
        ref, selector = item.ref, labels(item.obj, "spec", "selector")
        if case.selected(selector, ref.namespace) or not case.known("pods", ref.namespace):
            continue
        wanted = _joined(selector)
        evidence = [quote(item.source, f"Service {ref.name}: spec.selector: {wanted}")]
        # A workload scaled to zero, or one that cannot create pods, is not the selector's fault.
        behind = dependency.behind(case, ref)
        if behind:
            found = case.evidence.find(behind[0])
            if found and at(found.obj, "spec", "replicas") == 0:
                shown = f"{found.ref.kind} {found.ref.name}: spec.replicas=0"
                yield case.finding(
                    "scaled_to_zero",
                    found.ref,
                    [*evidence, quote(found.source, shown)],
                    confidence=Confidence.HIGH,
                    because="the workload behind it asks for no pods",
                    about=[ref],
                    service=ref.name,
                )
            else:
                yield _unready(case, item, evidence, behind)
            continue
        near = _nearest(case, ref, selector)
        if near:
            having = labels(near.obj, "metadata", "labels")
            shown = f"Pod {name(near.obj)}: metadata.labels: {_joined(having)}"
            evidence.append(quote(near.source, shown))
        yield case.finding(
            "service_selects_nothing",
            ref,
            evidence,
            confidence=Confidence.HIGH,
            because="no pod of the namespace carries these labels",
            about=[case.owner(near.obj)] if near else [],
            selector=wanted,
            near=f"; the nearest pod, {name(near.obj)}, has {_differing(selector, near)}"
            if near
            else "",
        )


def service_port(case: Case) -> Iterator[Finding]:
    """A Service that sends to a port which none of its pods declares."""
    for item in _selecting(case):
        ref = item.ref
        pods = [
            pod
            for pod in case.selected(labels(item.obj, "spec", "selector"), ref.namespace)
            if running(pod.obj)
        ]
        declared = {
            (text(port, "name"), str(number(port, "containerPort")))
            for pod in pods
            for container in objects(pod.obj, "spec", "containers")
            for port in objects(container, "ports")
        }
        # Of some of the pods nothing follows for all of them.
        if not pods or not declared or not case.known("pods", ref.namespace):
            continue
        for port in objects(item.obj, "spec", "ports"):
            target = str(at(port, "targetPort") or at(port, "port") or "")
            if any(target in pair for pair in declared):
                continue
            shown = ", ".join(f"{label or 'unnamed'}={value}" for label, value in sorted(declared))
            yield case.finding(
                "service_wrong_port",
                ref,
                [
                    quote(item.source, f"Service {ref.name}: spec.ports targetPort={target}"),
                    quote(pods[0].source, f"Pod {name(pods[0].obj)}: containerPorts: {shown}"),
                ],
                confidence=Confidence.HIGH if not target.isdigit() else Confidence.MEDIUM,
                because="no container port has that name"
                if not target.isdigit()
                else "no container declares that port; a program may still listen on it",
                about=[case.owner(pods[0].obj)],
                target=target,
                declared=shown,
            )


def service_unready(case: Case) -> Iterator[Finding]:
    """A Service whose pods exist and none of which is ready: a symptom of what ails the pods."""
    for item in _selecting(case):
        pods = [
            pod
            for pod in case.selected(labels(item.obj, "spec", "selector"), item.ref.namespace)
            if running(pod.obj)
        ]
        if any(is_ready(pod.obj) for pod in pods):
            continue
        if not pods or not case.known("pods", item.ref.namespace):
            continue
        selector = _joined(labels(item.obj, "spec", "selector"))
        evidence = [
            quote(item.source, f"Service {item.ref.name}: spec.selector: {selector}"),
            quote(pods[0].source, f"{len(pods)} pods match, 0 have condition Ready=True"),
        ]
        behind = list(dict.fromkeys(case.owner(pod.obj) for pod in pods))
        yield _unready(case, item, evidence, behind)


def ingress_backend(case: Case) -> Iterator[Finding]:
    """An Ingress that sends to a Service or a port that is not there, or that has no endpoints."""
    for item in case.all("ingresses"):
        ref = item.ref
        services = {each.ref.name: each for each in case.all("services", ref.namespace)}
        if not case.known("services", ref.namespace):
            continue
        for path, backend in _backends(item):
            target = text(backend, "name")
            port = at(backend, "port", "number") or at(backend, "port", "name")
            shown = f"Ingress {ref.name}: {path} -> service {target} port {port}"
            evidence = [quote(item.source, shown)]
            service = services.get(target)
            if service is None:
                have = ", ".join(sorted(services)) or "none"
                source = next(iter(services.values())).source if services else item.source
                evidence.append(quote(source, f"Services in {ref.namespace}: {have}"))
                yield case.finding(
                    "ingress_service_missing", ref, evidence,
                    confidence=Confidence.HIGH, because="no Service of that name exists",
                    about=[ObjectRef("Service", ref.namespace, target)],
                    service=target, path=path, have=have,
                )  # fmt: skip
                continue
            ports = objects(service.obj, "spec", "ports")
            known = {str(number(each, "port")) for each in ports} | {text(e, "name") for e in ports}
            if str(port) not in known:
                having = ", ".join(str(number(each, "port")) for each in ports)
                evidence.append(quote(service.source, f"Service {target}: ports: {having}"))
                yield case.finding(
                    "ingress_port_missing", ref, evidence,
                    confidence=Confidence.HIGH, because="the Service has no such port",
                    about=[service.ref], service=target, port=port, path=path, have=having,
                )  # fmt: skip
                continue
            pods = case.selected(labels(service.obj, "spec", "selector"), ref.namespace)
            selects = bool(labels(service.obj, "spec", "selector"))
            if (
                selects
                and case.known("pods", ref.namespace)
                and not any(is_ready(p.obj) for p in pods)
            ):
                evidence.append(quote(service.source, f"Service {target}: 0 ready pods"))
                yield case.finding(
                    "ingress_backend_down", ref, evidence,
                    confidence=Confidence.HIGH, because="the Service has no ready pod",
                    explained_by=[service.ref, *dependency.behind(case, service.ref)],
                    service=target, path=path,
                )  # fmt: skip


def _unready(case: Case, item: Item, evidence: list[Quote], behind: list[ObjectRef]) -> Finding:
    return case.finding(
        "service_without_endpoints",
        item.ref,
        evidence,
        confidence=Confidence.HIGH,
        because="none of the pods that it selects is ready",
        explained_by=behind,
        workload=", ".join(f"{ref.kind} {ref.name}" for ref in behind),
    )


def _selecting(case: Case) -> Iterator[Item]:
    for item in case.all("services"):
        if text(item.obj, "spec", "type") == "ExternalName":
            continue
        if labels(item.obj, "spec", "selector"):
            yield item


def _backends(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    default = mapping(item.obj, "spec", "defaultBackend", "service")
    if default:
        yield "default backend", default
    for rule in objects(item.obj, "spec", "rules"):
        for path in objects(rule, "http", "paths"):
            backend = mapping(path, "backend", "service")
            if backend:
                yield f"{text(rule, 'host') or '*'}{text(path, 'path') or '/'}", backend


def _nearest(case: Case, service: ObjectRef, selector: dict[str, str]) -> Item | None:
    """Return a pod that shares a label key or the Service's name, the best first."""

    def likeness(item: Item) -> int:
        having = labels(item.obj, "metadata", "labels")
        shared = sum(having.get(key) == value for key, value in selector.items())
        return 2 * shared + 3 * (case.owner(item.obj).name == service.name)

    best = max(case.all("pods", service.namespace), key=likeness, default=None)
    return best if best is not None and likeness(best) else None


def _differing(selector: dict[str, str], item: Item) -> str:
    having = labels(item.obj, "metadata", "labels")
    parts = [
        f"{key}={having[key]}" if key in having else f"no label {key}"
        for key, value in selector.items()
        if having.get(key) != value
    ]
    return ", ".join(parts)


def _joined(pairs: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in pairs.items())
