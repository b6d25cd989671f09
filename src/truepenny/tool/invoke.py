"""The one way to call a tool: known, well-formed, admitted, timed, contained, redacted."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio

from truepenny.model.message import Image, Text
from truepenny.text.bound import Limits, bound

from .admission import Admission
from .arguments import problems
from .contract import CallContext, Tool
from .decision import ALLOW, Decision, Verdict, deny
from .outcome import Cause, Outcome
from .registry import Registry
from .result import NEVER_RAN, ByteCounts, Completeness, Facts, Result, invalid

log = logging.getLogger(__name__)

BACKSTOP_BYTES = 2 * 1024 * 1024
"""No content is longer, whatever a tool returns: above any tool's own limit, below any window."""

NOT_WELL = "it did not end well, so nobody can say that this is all"
"""Why such a result is not complete, where its tool gave no reason of its own."""

NEVER_COMPLETE = frozenset(Outcome) - {Outcome.SUCCESS, Outcome.NO_MATCH, Outcome.TARGET_FAILED}
"""Ends in which the target did not have its whole say; no such result reads as complete."""

Ask = Callable[[Tool, Mapping[str, Any], Decision], Awaitable[bool]]
"""Puts a call before a person; True is an approval of exactly this call."""

BeforeRun = Callable[[Tool, Decision], Awaitable[Decision]]
"""Records an admitted call before it runs; it may still answer with a denial."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call that was dealt with: what was decided, and what it came to."""

    tool: str
    arguments: Mapping[str, Any]
    decision: Decision
    result: Result


async def invoke(
    name: str,
    arguments: Mapping[str, Any],
    context: CallContext,
    registry: Registry,
    admission: Admission,
    ask: Ask | None = None,
    before_run: BeforeRun | None = None,
) -> Invocation:
    """Call a tool by name and return what happened; raises only on cancellation."""
    started = context.clock.monotonic()
    tool = registry.get(name)
    if tool is None:
        nearest = ", ".join(registry.nearest(name)) or ", ".join(registry.names)
        result = invalid("unknown_tool", f"there is no tool named {name!r}", f"known: {nearest}")
        return Invocation(name, arguments, ALLOW, _finish(result, context, started))
    if wrong := problems(tool, arguments):
        result = invalid("arguments", "; ".join(wrong), _usage(tool), problems=list(wrong))
        return Invocation(name, arguments, ALLOW, _finish(result, context, started))
    decision = admission.decide(tool, arguments)
    if decision.verdict is Verdict.ASK:
        decision = await _put_before_person(tool, arguments, decision, ask)
    if decision.verdict is Verdict.ALLOW and before_run is not None:
        decision = await before_run(tool, decision)
    if decision.verdict is not Verdict.ALLOW:
        return Invocation(name, arguments, decision, _finish(_denied(decision), context, started))
    result = await run_admitted(tool, arguments, context)
    return Invocation(name, arguments, decision, _finish(result, context, started))


async def _put_before_person(
    tool: Tool, arguments: Mapping[str, Any], decision: Decision, ask: Ask | None
) -> Decision:
    if ask is None:
        return deny("nobody_to_ask", f"{tool.name} needs a person's approval", rule=decision.rule)
    if await ask(tool, arguments, decision):
        return replace(decision, verdict=Verdict.ALLOW)
    return deny("person_declined", f"a person declined {tool.name}", rule=decision.rule)


async def run_admitted(tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Result:
    """Run a call that was admitted, here or by whoever sent it; raises only on cancellation."""
    try:
        with anyio.fail_after(tool.timeout):
            return await tool.run(arguments, context)
    except TimeoutError:
        facts = Facts(cause=Cause.TIMEOUT, completeness=Completeness("unknown", "stopped early"))
        text = f"{tool.name} did not end within {tool.timeout:g} s and was stopped"
        return Result(Outcome.INTERRUPTED, (Text(text),), facts)
    except Exception as error:
        # Redacted by hand: a message may quote what the tool was holding.
        trace = "".join(traceback.format_exception(error))
        log.error("tool %s failed\n%s", tool.name, context.redactor.text(trace).text)
        facts = Facts(
            reason=type(error).__name__, completeness=Completeness("unknown", "the tool failed")
        )
        text = f"{tool.name} failed inside: {type(error).__name__}: {error}"
        return Result(Outcome.INTERNAL_ERROR, (Text(text),), facts)


def _denied(decision: Decision) -> Result:
    detail = {"rule": decision.rule, "matched": decision.matched}
    facts = Facts(completeness=NEVER_RAN, reason=decision.reason, hint=decision.hint, detail=detail)
    return Result(Outcome.REFUSED, (Text(decision.message or decision.reason),), facts)


def _usage(tool: Tool) -> str:
    return (
        f"for example: {json.dumps(dict(tool.example), ensure_ascii=False)}" if tool.example else ""
    )


def _finish(result: Result, context: CallContext, started: float) -> Result:
    """Redact once more, keep the backstop, and stamp the time.

    Redacting comes before the backstop cut: a secret that straddles the cut would survive it.
    """
    redactor, counts = context.redactor, dict(result.facts.redactions)
    content: list[Text | Image] = []
    sizes, completeness = result.facts.bytes, result.facts.completeness
    if completeness == Completeness() and result.outcome in NEVER_COMPLETE:
        completeness = Completeness("unknown", NOT_WELL)
    for part in result.content:
        if isinstance(part, Text):
            redacted = redactor.text(part.text)
            _count(counts, redacted.counts)
            bounded = bound(redacted.text, Limits(bytes=BACKSTOP_BYTES))
            if bounded.cut:
                lost = bounded.total_bytes - bounded.kept_bytes
                sizes = ByteCounts(
                    sizes.observed, max(sizes.kept - lost, 0), sizes.discarded + lost,
                    sizes.offloaded, sizes.offload_path,
                )  # fmt: skip
                completeness = Completeness(
                    "partial", "larger than any result may be", "bytes",
                    bounded.kept_bytes, bounded.total_bytes,
                )  # fmt: skip
            part = Text(bounded.text)
        content.append(part)
    detail, found = redactor.json(result.facts.detail)
    _count(counts, found)
    facts = replace(
        result.facts,
        duration=context.clock.monotonic() - started,
        redactions=counts,
        bytes=sizes,
        completeness=replace(
            completeness,
            reason=redactor.text(completeness.reason).text,
            next=redactor.text(completeness.next).text,
        ),
        reason=redactor.text(result.facts.reason).text,
        detail=detail,
        command=redactor.text(result.facts.command).text,
        hint=redactor.text(result.facts.hint).text,
        notes=tuple(redactor.text(note).text for note in result.facts.notes),
        source={name: redactor.text(value).text for name, value in result.facts.source.items()},
    )
    return replace(result, content=tuple(content), facts=facts)


def _count(into: dict[str, int], more: Mapping[str, int]) -> None:
    for rule, count in more.items():
        into[rule] = into.get(rule, 0) + count
