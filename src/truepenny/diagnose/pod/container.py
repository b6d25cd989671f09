"""The container that a command is for: named or chosen, and known to run before it is entered."""

from __future__ import annotations

from typing import Any

from truepenny.diagnose.reader import Reader
from truepenny.diagnose.triage.fields import at, objects, text
from truepenny.execute.ending import Leg, Outcome
from truepenny.model.message import Text
from truepenny.tool.result import NEVER_RAN, Facts, Result, invalid

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
"""The annotation by which kubectl chooses; without it, the first container."""

_ENDED = ("Succeeded", "Failed")
"""Phases in which nothing of a pod runs any more."""

_KINDS = (
    ("containers", "containerStatuses"),
    ("initContainers", "initContainerStatuses"),
    ("ephemeralContainers", "ephemeralContainerStatuses"),
)


async def running_container(
    reader: Reader, namespace: str, pod: str, named: str | None, *, seconds: float
) -> str | Result:
    """Return the container to enter, or the result of a call that entered none: the pod was not
    read, has no such container, or it does not run (diagnostics 5). `seconds` bound the read."""
    words = ("get", "pod", pod, "-n", namespace, "-o", "json")
    reading = await reader.read(words, timeout=seconds, written=False)
    source = {**reader.cluster.source, "namespace": namespace, "pod": pod}
    if reading.result.outcome is not Outcome.SUCCESS:
        return _not_read(reading.result, source)
    states = _states(reading.value)
    if not states:
        return _not_entered("pod_unreadable", "the answer names no container of the pod", source)
    chosen = named or _default(reading.value, states)
    if chosen not in states:
        has = f"it has {', '.join(states)}"
        return invalid("container", f"pod {pod} has no container {chosen}: {has}", states=states)
    phase, state = _phase(reading.value), states[chosen]
    source["container"] = chosen
    # No state told leaves it to the phase: init containers run in one that is Pending.
    if phase not in _ENDED and (state == "running" or (state == "" and phase == "Running")):
        return chosen
    told = state or "without a state"
    message = f"nothing can run in it: pod {pod} is {phase or 'without a phase'}, "
    message += f"container {chosen} is {told}"
    return _not_entered(
        "not_running", message, source, outcome=Outcome.TARGET_FAILED, phase=phase, state=told
    )


def _not_read(result: Result, source: dict[str, str]) -> Result:
    """Return what came of the read, as that of a command that never ran."""
    facts = result.facts
    outcome, leg = result.outcome, facts.leg
    if outcome is Outcome.NO_MATCH:
        # Nothing was searched: whatever was asked for could not be reached.
        outcome, leg = Outcome.CHANNEL_FAILED, Leg.TRANSPORT
    never = result.with_facts(completeness=NEVER_RAN, exit=None, leg=leg, source=source)
    return Result(outcome, never.content, never.facts)


def _not_entered(
    reason: str,
    message: str,
    source: dict[str, str],
    *,
    outcome: Outcome = Outcome.CHANNEL_FAILED,
    **detail: Any,
) -> Result:
    leg = Leg.TRANSPORT if outcome is Outcome.CHANNEL_FAILED else None
    facts = Facts(completeness=NEVER_RAN, leg=leg, reason=reason, source=source, detail=detail)
    return Result(outcome, (Text(message),), facts)


def _states(pod: Any) -> dict[str, str]:
    """Return each container's state (`running`, `waiting: REASON`, `terminated: REASON`; empty
    where none is told)."""
    states: dict[str, str] = {}
    for kind, statuses in _KINDS:
        told = {text(one, "name"): one for one in objects(pod, "status", statuses)}
        for entry in objects(pod, "spec", kind):
            name = text(entry, "name")
            states[name] = _state(told.get(name))
    return states


def _state(status: Any) -> str:
    for word in ("running", "waiting", "terminated"):
        found = at(status, "state", word)
        if found is not None:
            reason = text(found, "reason")
            return f"{word}: {reason}" if reason else word
    return ""


def _default(pod: Any, states: dict[str, str]) -> str:
    marked = text(pod, "metadata", "annotations", DEFAULT_CONTAINER)
    return marked if marked in states else next(iter(states))


def _phase(pod: Any) -> str:
    return text(pod, "status", "phase")
