"""Controllers that cannot create their pods: quota, limit range, webhook, policy, account."""

from __future__ import annotations

from collections.abc import Iterator

from truepenny.diagnose.triage.case import Case, message_of, quote, quote_event
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import at, condition, mapping, name, number, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Quote
from truepenny.diagnose.triage.query import Query
from truepenny.diagnose.triage.table import match

from .crash import captured

WEBHOOKS = Query(
    ("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "json"),
    "which configuration the webhook belongs to",
)
"""All admission webhooks; they are few, and each names the service that answers for it."""

_KINDS = ("replicasets", "statefulsets", "daemonsets", "jobs")


def creation_refused(case: Case) -> Iterator[Finding]:
    """A workload with fewer pods than it wants, because creating one is refused."""
    for kind in _KINDS:
        for item in case.all(kind):
            if not _short(item):
                continue
            events = [e for e in case.events(item.ref, "FailedCreate") if case.recent(e)]
            failure = condition(item.obj, "ReplicaFailure")
            if events:
                said, cited = message_of(events[0]), quote_event(events[0])
            elif failure.get("status") == "True":
                said = text(failure, "message")
                shown = (
                    f"{item.ref.kind} {item.ref.name}: status.conditions[ReplicaFailure]: {said}"
                )
                cited = quote(item.source, shown)
            else:
                continue
            told = match("creation", said)
            words = captured(told[1].groupdict()) if told else {}
            owner = case.owner(item.obj)
            evidence = [cited]
            about: list[ObjectRef] = []
            if words.get("quota"):
                about.append(ObjectRef("ResourceQuota", item.ref.namespace, str(words["quota"])))
                evidence += _quota(case, about[0])
            if told and told[0].cause == "limit_range_refused":
                ranges = case.require("limitranges", item.ref.namespace, "which range bounds it")
                about += [each.ref for each in ranges]
                words["range"] = ", ".join(each.ref.name for each in ranges)
            if words.get("webhook"):
                about += _webhooks(case, str(words["webhook"]), evidence)
                words["configuration"] = ", ".join(str(ref) for ref in about)
            yield case.finding(
                told[0].cause if told else "creation_refused",
                owner,
                evidence,
                confidence=Confidence.HIGH if told and not told[0].generic else Confidence.MEDIUM,
                because="the API server's refusal is in the controller's event",
                about=about,
                creator=f"{item.ref.kind} {item.ref.name}",
                **words,
            )


def _webhooks(case: Case, webhook: str, evidence: list[Quote]) -> list[ObjectRef]:
    """Return the configurations that hold a webhook, and quote where it sends requests to."""
    answer = case.read(WEBHOOKS)
    found: list[ObjectRef] = []
    for obj in answer.objects if answer else ():
        for each in objects(obj, "webhooks"):
            if answer and text(each, "name") == webhook:
                ref = ObjectRef(text(obj, "kind"), "", name(obj))
                found.append(ref)
                service = mapping(each, "clientConfig", "service")
                target = f"{text(service, 'namespace')}/{text(service, 'name')}"
                shown = target if service else text(each, "clientConfig", "url")
                policy = text(each, "failurePolicy")
                excerpt = f"{ref}: webhook {webhook}: sends to {shown}, failurePolicy={policy}"
                evidence.append(quote(answer, excerpt))
                if service:
                    found.append(
                        ObjectRef("Service", text(service, "namespace"), text(service, "name"))
                    )
    return found


def _quota(case: Case, ref: ObjectRef) -> list[Quote]:
    for item in case.require(
        "resourcequotas", ref.namespace, "what the quota allows and what is used"
    ):
        if item.ref == ref:
            used, hard = mapping(item.obj, "status", "used"), mapping(item.obj, "status", "hard")
            shown = ", ".join(f"{key} {used.get(key, '?')} of {hard[key]}" for key in sorted(hard))
            return [quote(item.source, f"ResourceQuota {ref.name}: {shown}")]
    return []


def _short(item: Item) -> bool:
    if item.ref.kind == "Job":
        done = number(item.obj, "status", "succeeded") + number(item.obj, "status", "active")
        return done == 0 and not condition(item.obj, "Complete")
    if item.ref.kind == "DaemonSet":
        return number(item.obj, "status", "currentNumberScheduled") < number(
            item.obj, "status", "desiredNumberScheduled"
        )
    wanted = at(item.obj, "spec", "replicas")
    return number(item.obj, "status", "replicas") < (
        1 if wanted is None else number(item.obj, "spec", "replicas")
    )
