"""From a host name in a log line to the Service, and so to the workload, that it means."""

from __future__ import annotations

from collections.abc import Mapping

from truepenny.diagnose.triage.case import Case
from truepenny.diagnose.triage.fields import labels, text
from truepenny.diagnose.triage.finding import ObjectRef

DNS = ObjectRef("Deployment", "kube-system", "coredns")
"""The usual cluster DNS; its pods are looked up by the label below where it is named otherwise."""
DNS_LABELS = {"k8s-app": "kube-dns"}


def named(case: Case, within: str, words: Mapping[str, object]) -> list[ObjectRef]:
    """Return the objects that a log line's `host` or `address` means, most direct first."""
    host = str(words.get("host") or words.get("address") or "")
    if not host:
        return []
    return service_of(case, within, host)


def service_of(case: Case, within: str, host: str) -> list[ObjectRef]:
    """Return the Service that a host name or cluster address means, and the workloads behind it."""
    parts = host.rstrip(".").split(".")
    short = parts[0]
    where = parts[1] if len(parts) > 1 and not parts[1].isdigit() else within
    if where in ("svc", "local"):
        where = within
    found: list[ObjectRef] = []
    for item in case.all("services"):
        ref = item.ref
        if (ref.name == short and ref.namespace == where) or text(
            item.obj, "spec", "clusterIP"
        ) == host:
            found.append(ref)
            found.extend(behind(case, ref))
    for pod in case.all("pods"):
        # A headless Service resolves to its pods' own addresses.
        if host and text(pod.obj, "status", "podIP") == host:
            found.append(case.owner(pod.obj))
    if not found and not parts[-1].isdigit():
        found.append(ObjectRef("Service", where, short))
        found.extend(
            ObjectRef(kind, where, short) for kind in ("Deployment", "StatefulSet", "DaemonSet")
        )
    return found


def behind(case: Case, service: ObjectRef) -> list[ObjectRef]:
    """Return the workloads whose pods, or pod template, a Service selects."""
    item = case.evidence.find(service)
    if item is None:
        return []
    selector = labels(item.obj, "spec", "selector")
    found = [case.owner(pod.obj) for pod in case.selected(selector, service.namespace)]
    for kind in ("deployments", "statefulsets", "daemonsets"):
        for workload in case.all(kind, service.namespace):
            template = labels(workload.obj, "spec", "template", "metadata", "labels")
            if selector and selector.items() <= template.items():
                found.append(workload.ref)
    return list(dict.fromkeys(found))


def dns_workloads(case: Case) -> list[ObjectRef]:
    """Return what runs the cluster's DNS, as far as it was read."""
    pods = case.selected(DNS_LABELS, "kube-system")
    found = [case.owner(pod.obj) for pod in pods]
    return list(dict.fromkeys([*found, DNS]))


def explanations(
    case: Case, cause: str, within: str, words: Mapping[str, object]
) -> list[ObjectRef]:
    """Return the objects whose own fault would explain what a log line of this cause says."""
    found = named(case, within, words)
    if cause == "dns_failure":
        found = [ref for ref in found if case.evidence.find(ref)]
        case.require("pods", "kube-system", "whether the cluster's DNS runs")
        return [*dns_workloads(case), *found]
    if cause == "certificate_rejected":
        kind = "certificates.cert-manager.io"
        return [*found, *(item.ref for item in case.require(kind, within, "which one expired"))]
    return found


def missing_service(case: Case, within: str, words: Mapping[str, object]) -> str:
    """Say that a host name means no Service of the namespace, where that is known."""
    host = str(words.get("host") or "").rstrip(".")
    parts = host.split(".")
    inside = len(parts) == 1 or (len(parts) > 1 and parts[1] == within)
    if not host or not inside or not case.known("services", within):
        return ""
    if case.evidence.find(ObjectRef("Service", within, parts[0])):
        return ""
    return f"; there is no Service {parts[0]} in namespace {within}"
