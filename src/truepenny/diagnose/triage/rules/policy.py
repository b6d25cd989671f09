"""Network policies that do not admit a program to what it cannot reach."""

from __future__ import annotations

from collections.abc import Mapping

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import Object, labels, mapping, name, objects, strings, text
from truepenny.diagnose.triage.finding import ObjectRef, Quote
from truepenny.diagnose.triage.query import Query

from . import dependency


def blocking(
    case: Case, client: Item, words: Mapping[str, object], evidence: list[Quote]
) -> list[ObjectRef]:
    """Return the policies that select what a log line could not reach and do not name the client.

    Only pod selectors are judged; a rule with any other peer is taken to admit the client, so that
    a policy is never blamed for what was not understood.
    """
    within = client.ref.namespace
    targets = [
        pod
        for ref in dependency.named(case, within, words)
        for pod in case.pods_of(ref)
        if pod.ref.namespace == within
    ]
    if not targets:
        return []
    query = Query(
        ("get", "networkpolicies", "-n", within, "-o", "json"),
        "whether a network policy is between",
    )
    answer = case.read(query)
    found: list[ObjectRef] = []
    for policy in answer.objects if answer else ():
        spec = mapping(policy, "spec")
        chosen = [pod for pod in targets if _selects(mapping(spec, "podSelector"), pod.obj)]
        types = strings(spec, "policyTypes") or ["Ingress"]
        if not answer or not chosen or "Ingress" not in types or _admits(spec, client.obj):
            continue
        ref = ObjectRef("NetworkPolicy", within, name(policy))
        found.append(ref)
        shown = f"{ref}: selects {name(chosen[0].obj)}; ingress: {_peers(spec)}"
        evidence.append(quote(answer, shown))
    return found


def _admits(spec: Object, client: Object) -> bool:
    for rule in objects(spec, "ingress"):
        peers = objects(rule, "from")
        if not peers:
            return True
        for peer in peers:
            if set(peer) != {"podSelector"} or _selects(mapping(peer, "podSelector"), client):
                return True
    return False


def _selects(selector: Object, pod: Object) -> bool:
    """Whether a label selector picks a pod; an operator that is not known picks it."""
    having = labels(pod, "metadata", "labels")
    for each in objects(selector, "matchExpressions"):
        key, operator, values = text(each, "key"), text(each, "operator"), strings(each, "values")
        meets = {
            "In": having.get(key) in values,
            "NotIn": having.get(key) not in values,
            "Exists": key in having,
            "DoesNotExist": key not in having,
        }.get(operator, True)
        if not meets:
            return False
    return labels(selector, "matchLabels").items() <= having.items()


def _peers(spec: Object) -> str:
    parts = [
        _written(mapping(peer, "podSelector"))
        for rule in objects(spec, "ingress")
        for peer in objects(rule, "from")
    ]
    return f"only from {'; '.join(parts)}" if parts else "nothing is admitted"


def _written(selector: Object) -> str:
    parts = [f"{key}={value}" for key, value in labels(selector, "matchLabels").items()]
    parts += [
        f"{text(each, 'key')} {text(each, 'operator')} {', '.join(strings(each, 'values'))}"
        for each in objects(selector, "matchExpressions")
    ]
    return ",".join(parts) or "any pod"
