"""Autoscalers without metrics or at their end."""

from __future__ import annotations

from collections.abc import Iterator

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.fields import at, condition, number, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef

METRICS = ObjectRef("Deployment", "kube-system", "metrics-server")
"""What serves resource metrics in the usual installation."""


def hpa_metrics(case: Case) -> Iterator[Finding]:
    """An autoscaler that gets no metrics, and so does not scale."""
    for item in case.all("horizontalpodautoscalers"):
        active = condition(item.obj, "ScalingActive")
        if active.get("status") != "False" or text(active, "reason") == "ScalingDisabled":
            continue
        said = text(active, "message")
        reason = text(active, "reason")
        shown = f"conditions[ScalingActive]: {reason}: {said}"
        evidence = [quote(item.source, f"HorizontalPodAutoscaler {item.ref.name}: {shown}")]
        target = ObjectRef(
            text(item.obj, "spec", "scaleTargetRef", "kind"),
            item.ref.namespace,
            text(item.obj, "spec", "scaleTargetRef", "name"),
        )
        if "missing request for" in said:
            found = case.evidence.find(target)
            for each in objects(
                found.obj if found else None, "spec", "template", "spec", "containers"
            ):
                requests = at(each, "resources", "requests")
                if found and requests is None:
                    container = f"container {text(each, 'name')}"
                    shown = f"{target.kind} {target.name}: {container}: no resources.requests"
                    evidence.append(quote(found.source, shown))
            yield case.finding(
                "hpa_no_request", item.ref, evidence,
                confidence=Confidence.HIGH, because="the autoscaler's condition states it",
                about=[target], target=f"{target.kind} {target.name}",
            )  # fmt: skip
            continue
        state = ""
        pods = [
            pod for pod in case.require("pods", METRICS.namespace, "whether metrics-server runs")
            if case.owner(pod.obj) == METRICS
        ]  # fmt: skip
        if pods:
            ready = sum(condition(pod.obj, "Ready").get("status") == "True" for pod in pods)
            evidence.append(
                quote(pods[0].source, f"metrics-server: {ready} of {len(pods)} pods ready")
            )
        elif case.known("pods", METRICS.namespace):
            state = "; no metrics-server pod runs in kube-system"
        yield case.finding(
            "hpa_no_metrics",
            item.ref,
            evidence,
            confidence=Confidence.HIGH,
            because="the autoscaler's condition states it",
            explained_by=[METRICS],
            about=[target],
            target=f"{target.kind} {target.name}",
            state=state,
        )


def hpa_at_limit(case: Case) -> Iterator[Finding]:
    """An autoscaler that wants more replicas than its maximum."""
    for item in case.all("horizontalpodautoscalers"):
        limited = condition(item.obj, "ScalingLimited")
        if limited.get("status") == "True" and text(limited, "reason") == "TooManyReplicas":
            most = number(item.obj, "spec", "maxReplicas")
            said = text(limited, "message")
            shown = f"HorizontalPodAutoscaler {item.ref.name}: maxReplicas={most}: {said}"
            yield case.finding(
                "hpa_at_limit", item.ref, [quote(item.source, shown)],
                confidence=Confidence.HIGH, because="the autoscaler's condition states it",
                most=most,
            )  # fmt: skip
