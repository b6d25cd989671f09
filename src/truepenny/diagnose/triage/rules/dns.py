"""The cluster's DNS: its pods, and the programs that cannot resolve names because of them."""

from __future__ import annotations

from collections.abc import Iterator

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.container import is_ready, running
from truepenny.diagnose.triage.finding import Confidence, Finding

from . import dependency


def dns_down(case: Case) -> Iterator[Finding]:
    """The cluster's DNS has no ready pod, or fewer than it should."""
    pods = [
        item for item in case.selected(dependency.DNS_LABELS, "kube-system") if running(item.obj)
    ]
    ready = [item for item in pods if is_ready(item.obj)]
    if not pods or len(ready) == len(pods) or not case.known("pods", "kube-system"):
        return
    owner = case.owner(pods[0].obj)
    yield case.finding(
        "dns_down" if not ready else "dns_degraded",
        owner,
        [
            quote(
                pods[0].source, f"pods with k8s-app=kube-dns: {len(ready)} of {len(pods)} are Ready"
            )
        ],
        confidence=Confidence.HIGH,
        because="the pods' Ready conditions count it",
        explained_by=[owner],
        ready=len(ready),
        wanted=len(pods),
    )
