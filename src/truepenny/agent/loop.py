"""The loop: ask the model, run its calls, deliver what people said meanwhile, and again.

Read `run_turn` first; it is the whole of it. A turn ends at a boundary: after an answer without
calls, at a limit, or when the model fails. A limit never cuts a batch in half, and the model gets
one last request without tools to say what it has.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.lowlevel

from truepenny.model.message import AssistantMessage, Text, ToolCall, UserMessage
from truepenny.model.message import StopReason as ModelStop
from truepenny.tool.result import Result

from .ask import ask
from .batch import run_batch
from .event import Notice, SteerDelivered
from .prompt import Layer, render
from .stop import COMPLETED, Stop, StopKind
from .turn import Turn

REMAINING_NOTICES = (15, 5)
"""Model requests left at which the model is told so, beside the half (assistant spec 2.6)."""


async def run_turn(turn: Turn) -> Stop:
    """Run one turn whose prompt is in the history; return why it ended."""
    while True:
        await anyio.lowlevel.checkpoint()  # an abort lands here even if nothing below ever waits
        deliver_steers(turn)
        stop = turn.exceeded or _exceeded(turn)
        if stop is not None:
            return await _conclude(turn, stop)
        reply = await ask(turn)
        if isinstance(reply, Stop):
            return reply
        if reply.stop is ModelStop.REFUSAL:
            return _refused(turn, reply)
        reply = _accept(turn, reply)
        if reply.tool_calls:
            results = await run_batch(turn, reply)
            if turn.ended_by_tool:
                return Stop(StopKind.COMPLETED, "ended_by_tool")
            _watch(turn, results)
        elif reply.stop is ModelStop.MAX_TOKENS:
            return Stop(StopKind.CUT_ANSWER, message="the answer reached its token limit")
        else:
            await turn.heard()
            if not turn.session.steers:
                return COMPLETED


def deliver_steers(turn: Turn) -> None:
    """Put waiting steers into the history, each confirmed by an event."""
    while turn.session.steers:
        steer = turn.session.steers.popleft()
        turn.append(UserMessage((Text(steer.text),)), steer.id)
        turn.put(SteerDelivered(turn.id, steer.id))


def _accept(turn: Turn, reply: AssistantMessage) -> AssistantMessage:
    """Put the reply into the history; what comes back is what the history holds of it."""
    turn.append(reply)
    held = turn.session.history.messages[-1]
    reply = held if isinstance(held, AssistantMessage) else reply
    # Text beside calls is narration; it is the answer only if nothing better comes.
    turn.text = reply.text.strip() or turn.text
    if reply.text.strip() and turn.setup.investigation is not None:
        turn.setup.investigation.silence.broken()
    return reply


def _exceeded(turn: Turn) -> Stop | None:
    limits, used = turn.setup.limits, turn.tally.requests
    if used >= limits.max_turns:
        return Stop(
            StopKind.MAX_TURNS, message=f"the limit of {limits.max_turns} requests was reached"
        )
    if limits.max_total_tokens is not None and used:
        tokens = _total_tokens(turn)
        if tokens is None and not turn.unmetered:
            turn.unmetered = True
            said = "the model reports no token counts, so the token limit cannot be enforced"
            turn.put(Notice(turn.id, "unmetered", said))
        elif tokens is not None and tokens >= limits.max_total_tokens:
            said = f"{tokens} of {limits.max_total_tokens} tokens are used"
            return Stop(StopKind.BUDGET, message=said)
    _notice_budget(turn, used, limits.max_turns)
    return None


def _notice_budget(turn: Turn, used: int, limit: int) -> None:
    """Tell the model at half and near the end; a limit too small to warn in time gets no notice."""
    if limit <= 2 * min(REMAINING_NOTICES):
        return
    points = {limit // 2, *(limit - left for left in REMAINING_NOTICES if left < limit)}
    passed = sum(used >= point for point in points)
    if passed > turn.notices:
        turn.notices = passed
        note = render(Layer.NOTICE_BUDGET, used=used, limit=limit)
        turn.append(UserMessage((Text(note),), synthetic="notice_budget"))


def _total_tokens(turn: Turn) -> int | None:
    usage = turn.tally.usage
    if usage is None:
        return None
    counts = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    )
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _watch(turn: Turn, results: Sequence[tuple[ToolCall, Result]]) -> None:
    """Look for circles: warn the model once per call, then end the turn."""
    limits = turn.setup.limits
    for call, result in results:
        arguments = call.raw if call.arguments is None else call.arguments
        count = turn.guard.observe(call.name, arguments, result)
        if count > limits.loop_stop:
            said = f"{call.name} gave the same result {count} times"
            turn.exceeded = turn.exceeded or Stop(StopKind.LOOP_DETECTED, call.name, said)
        elif count == limits.loop_warn:
            note = render(Layer.NOTICE_LOOP, tool=call.name, count=count)
            turn.append(UserMessage((Text(note),), synthetic="notice_loop"))


async def _conclude(turn: Turn, stop: Stop) -> Stop:
    """Give the model one last request without tools, then end with `stop` whatever it says."""
    note = render(Layer.CONCLUDE, reason=stop.message)
    turn.append(UserMessage((Text(note),), synthetic="conclude"))
    reply = await ask(turn, "none")
    if isinstance(reply, Stop):
        return stop
    if reply.tool_calls or reply.stop is ModelStop.REFUSAL:
        # It asks for what will not come, or declines: recorded as what was shown, not as said.
        turn.session.note_partial(turn.id, reply)
    else:
        _accept(turn, reply)
    return stop


def _refused(turn: Turn, reply: AssistantMessage) -> Stop:
    # Kept out of the history: a refusal in it makes the next answer a refusal too.
    turn.session.note_partial(turn.id, reply)
    turn.text = reply.text.strip()
    said = "the model declined to answer"
    return Stop(StopKind.REFUSED, message=said)
