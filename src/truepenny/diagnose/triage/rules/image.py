"""Images that cannot be pulled, and why the registry or the runtime says so."""

from __future__ import annotations

from collections.abc import Iterator

from truepenny.diagnose.triage.case import Case, message_of, quote, quote_event
from truepenny.diagnose.triage.evidence import Item
from truepenny.diagnose.triage.fields import name, namespace, objects, text
from truepenny.diagnose.triage.finding import Confidence, Finding, Quote
from truepenny.diagnose.triage.observation import Status
from truepenny.diagnose.triage.query import Query
from truepenny.diagnose.triage.table import match

from .group import grouped

_WAITS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
    }
)


def image_pull(case: Case) -> Iterator[Finding]:
    """A container that waits for its image; the pull's own error says why."""
    for group in grouped(case, lambda c: c.waiting in _WAITS):
        container = group.container
        state = f"{container.path}.state.waiting.reason={container.waiting}"
        evidence = [quote(group.item.source, f"Pod {name(group.item.obj)}: {state}")]
        # `Failed` events carry the registry's answer; the waiting message of a back-off does not.
        failures = [
            event
            for event in case.events(group.item.ref, "Failed", "InspectFailed", "ErrImageNeverPull")
            if match("image", message_of(event)) and container.image in message_of(event)
        ]
        messages = [(message_of(event), quote_event(event)) for event in failures]
        messages.append(
            (container.waiting_message, quote(group.item.source, container.waiting_message))
        )
        told = [(match("image", words), words, cited) for words, cited in messages if words]
        specific = next((each for each in told if each[0] and not each[0][0].generic), None)
        if specific is None:
            case.require("events", group.owner.namespace, "what the pull answered")
            best = next((each for each in told if each[0]), None)
            evidence += [best[2]] if best else []
        else:
            evidence.append(specific[2])
        secrets = ""
        if specific and specific[0] and specific[0][0].cause == "image_auth":
            secrets = _pull_secrets(case, group.item, evidence)
        cause = specific[0][0].cause if specific and specific[0] else "image_pull_failed"
        yield case.finding(
            cause,
            group.owner,
            evidence,
            confidence=Confidence.HIGH if specific else Confidence.LOW,
            because="the pull's own error states it"
            if specific
            else "the pull fails and its error was not seen",
            container=container.name,
            pod=name(container.pod),
            image=container.image,
            count=group.count,
            secrets=secrets,
        )


def _pull_secrets(case: Case, item: Item, evidence: list[Quote]) -> str:
    """Say which pull secrets the pod names, and which of them do not exist."""
    named = [text(each, "name") for each in objects(item.obj, "spec", "imagePullSecrets")]
    if not named:
        evidence.append(quote(item.source, f"Pod {name(item.obj)}: spec.imagePullSecrets: none"))
        return "; it names no pull secret"
    where = namespace(item.obj)
    # Names only: nothing of a Secret's content is asked for.
    query = Query(("get", "secrets", "-n", where, "-o", "name"), "whether the pull secret exists")
    answer = case.read(query)
    if answer is None or answer.status is not Status.OK:
        return f"; it names the pull secret {', '.join(named)}"
    have = [line.removeprefix("secret/") for line in answer.text.split() if "/" in line]
    absent = [each for each in named if each not in have]
    if not absent:
        return f"; its pull secret {', '.join(named)} exists and is not accepted"
    evidence.append(quote(answer, f"Secrets in {where}: {', '.join(have) or 'none'}"))
    return f"; its pull secret {', '.join(absent)} does not exist"
