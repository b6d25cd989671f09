"""The calls of one model message: run together or in a row, answered in call order, none forgotten.

Calls run in parallel when every tool in the batch allows it; one sequential tool makes the whole
batch run in order. A call that cannot be used (arguments that are no object, a message cut at its
token limit, no calls left) is answered with an error result and never run. Whatever ends the batch,
each call has exactly one result: a call that had started when the turn was stopped says that its
effect is not known, one that had not says that it never ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from truepenny.model.message import AssistantMessage, Text, ToolCall, ToolResultMessage
from truepenny.model.message import StopReason as ModelStop
from truepenny.system.clock import Clock
from truepenny.tool.contract import ActionClass, CallContext, Tool
from truepenny.tool.decision import ALLOW, Decision, Verdict, deny
from truepenny.tool.invoke import invoke
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.result import Completeness, Facts, Result, invalid, refused
from truepenny.tool.view import summary, to_json

from .event import ToolFinished, ToolProgress, ToolStarted
from .stop import Stop, StopKind
from .turn import Turn

PROGRESS_CHARS = 500
"""A progress line is for one line of a terminal."""


@dataclass(slots=True)
class _Call:
    """One call on its way. `announced`: it was recorded. `ran`: its tool was let run."""

    call: ToolCall
    shown: Any
    tool: Tool | None
    announced: bool = False
    ran: bool = False
    since: float = 0.0
    """When its tool was let run, on the turn's clock."""
    result: Result | None = None
    message: ToolResultMessage | None = None
    progress_dropped: int = 0


async def run_batch(turn: Turn, message: AssistantMessage) -> Sequence[tuple[ToolCall, Result]]:
    """Answer all calls of `message`, which is in the history already, and return the results."""
    cut = message.stop is ModelStop.MAX_TOKENS
    calls = [_prepare(turn, call) for call in message.tool_calls]
    try:
        if len(calls) > 1 and all(call.tool and _parallel(call.tool) for call in calls):
            room = anyio.CapacityLimiter(turn.setup.limits.parallel)
            async with anyio.create_task_group() as tasks:
                for call in calls:
                    tasks.start_soon(_within, room, turn, call, cut)
        else:
            for call in calls:
                await _answer(turn, call, cut)
    finally:
        _close(turn, calls)
    return [(state.call, state.result) for state in calls if state.result is not None]


async def _within(room: anyio.CapacityLimiter, turn: Turn, call: _Call, cut: bool) -> None:
    async with room:
        await _answer(turn, call, cut)


def _parallel(tool: Tool) -> bool:
    return tool.concurrency == "parallel"


def _prepare(turn: Turn, call: ToolCall) -> _Call:
    redactor = turn.setup.redactor
    if call.arguments is None:
        shown: Any = redactor.text(call.raw).text
    else:
        shown = redactor.json(call.arguments)[0]
    return _Call(call, shown, turn.setup.registry.get(call.name))


async def _answer(turn: Turn, state: _Call, cut: bool) -> None:
    """Deal with one call and record what it came to."""
    unusable = _unusable(turn, state.call, cut)
    if unusable is not None:
        _finish(turn, state, unusable)
        return
    turn.tally.calls += 1

    async def admitted(tool: Tool, decision: Decision) -> Decision:
        decision = await _record_before(turn, state, tool, decision)
        state.ran = decision.verdict is Verdict.ALLOW
        state.since = turn.setup.clock.monotonic()
        return decision

    setup, call = turn.setup, state.call
    done = await invoke(
        call.name,
        call.arguments or {},
        _context(turn, state),
        setup.registry,
        setup.admission,
        setup.ask,
        before_run=admitted,
    )
    if not state.announced:
        _announce(turn, state, done.decision)
    _finish(turn, state, done.result)


def _context(turn: Turn, state: _Call) -> CallContext:
    def progress(line: str) -> None:
        line = turn.setup.redactor.text(line).text[:PROGRESS_CHARS]
        if not turn.put(ToolProgress(turn.id, state.call.id, state.call.name, line)):
            state.progress_dropped += 1

    return CallContext(
        user=turn.session.user,
        session=turn.session.id,
        call_id=state.call.id,
        scratch=turn.session.scratch,
        redactor=turn.setup.redactor,
        clock=turn.setup.clock,
        progress=progress,
    )


def _unusable(turn: Turn, call: ToolCall, cut: bool) -> Result | None:
    limit = turn.setup.limits.max_tool_calls
    if cut:
        return invalid(
            "message_cut",
            "The message was cut at its token limit; this call may be incomplete and did not run.",
            "Send the call again, in a shorter message.",
        )
    if call.arguments is None:
        problem = turn.setup.redactor.text(call.problem).text
        return invalid(
            "malformed_arguments",
            f"The arguments are not a usable JSON object ({problem}). The call did not run.",
            "Send the call again with one complete JSON object.",
        )
    if turn.tally.calls >= limit:
        said = f"the limit of {limit} tool calls in a turn was reached"
        turn.exceeded = turn.exceeded or Stop(StopKind.MAX_TOOL_CALLS, message=said)
        return refused("max_tool_calls", f"This call did not run: {said}.")
    return None


async def _record_before(turn: Turn, state: _Call, tool: Tool, decision: Decision) -> Decision:
    """Record an admitted call; one that changes the world runs only once that is on the disk."""
    _announce(turn, state, decision, runs=True)
    if tool.action_class is ActionClass.READ:
        return decision
    await turn.session.flush()
    if turn.session.broken:
        return deny("not_recorded", "The call could not be recorded beforehand. It did not run.")
    return decision


def _announce(turn: Turn, state: _Call, decision: Decision, *, runs: bool = False) -> None:
    tool, call = state.tool, state.call
    verdict = {
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "rule": decision.rule,
    }
    action_class = tool.action_class.value if tool else ""
    turn.session.start_call(turn.id, call, state.shown, verdict, action_class, runs=runs)
    turn.put(ToolStarted(turn.id, call.id, call.name, state.shown, verdict, runs))
    state.announced = True


def _finish(turn: Turn, state: _Call, result: Result) -> None:
    """Keep the result and record it at once; it joins the history when the batch is closed."""
    if not state.announced:
        _announce(turn, state, ALLOW)
    state.result = result
    call = state.call
    view = to_json(result)
    state.message = turn.session.finish_call(turn.id, call, result, view["facts"])
    turn.tally.outcomes[result.outcome.value] += 1
    turn.ended_by_tool = turn.ended_by_tool or result.ends_turn
    turn.put(
        ToolFinished(
            turn.id,
            call.id,
            call.name,
            result.outcome.value,
            result.outcome.failed,
            view["facts"],
            summary(result),
            state.progress_dropped,
        )
    )


def _close(turn: Turn, calls: Sequence[_Call]) -> None:
    """Answer what has no result yet, then put all results into the history in call order.

    Has no await, so that a cancelled turn cannot be cut off in here.
    """
    for state in calls:
        if state.result is None:
            _finish(turn, state, _stopped(state, turn.setup.clock))
        if state.message is not None:
            turn.append(state.message)


def _stopped(state: _Call, clock: Clock) -> Result:
    lasted = 0.0
    if state.ran:
        lasted = clock.monotonic() - state.since
        text = "The turn was stopped while this call ran. What it did is not known."
        reason, known = "stopped_while_running", Completeness("unknown", "stopped early")
    else:
        text = "The turn was stopped before this call. It did not run."
        reason, known = "never_ran", Completeness("unknown", "never ran")
    facts = Facts(duration=lasted, cause=Cause.ABORT, reason=reason, completeness=known)
    return Result(Outcome.INTERRUPTED, (Text(text),), facts)
