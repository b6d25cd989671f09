"""A history rebuilt from a transcript: what a session goes on with after its process is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from truepenny.model.message import Text, ToolCall, ToolResultMessage
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.result import Completeness, Facts, Result
from truepenny.tool.view import model_content

from .history import Appended, History
from .record import Record, decode_message
from .repair import Repair, RepairKind
from .session import Steer
from .transcript import Transcript


@dataclass(frozen=True, slots=True)
class Restored:
    """A valid history, what had to be repaired, and steers that were accepted and not delivered.

    `sealed` are the answers made up for calls whose result was never recorded, and `lost` says by
    call id how far they got: `process_ended` while it ran, or `never_ran`. `unusable` counts
    records that should be messages and are not.
    """

    history: History
    repairs: tuple[Repair, ...]
    sealed: Appended
    lost: Mapping[str, str]
    pending: tuple[Steer, ...]
    unusable: int


def restore(transcript: Transcript) -> Restored:
    """Rebuild the history. A call that was let run and has no result may have had its effect."""
    history, repairs, unusable = History(), list[Repair](), 0
    ran: set[str] = set()
    for record in transcript.records:
        if record["type"] == "tool" and record.get("runs") is True:
            ran.add(str(record.get("call")))
        if record["type"] not in ("message", "result"):
            continue
        message = decode_message(record)
        if message is None:
            unusable += 1
            continue
        # Results of one batch are recorded as they come in: their order is no fault.
        found = history.append(message).repairs
        repairs.extend(r for r in found if r.kind is not RepairKind.REORDERED_RESULT)
    lost = {c.id: "process_ended" if c.id in ran else "never_ran" for c in history.open_calls}
    sealed = history.seal(lambda call: _lost(call, lost[call.id]))
    return Restored(history, tuple(repairs), sealed, lost, _pending(transcript), unusable)


def _lost(call: ToolCall, reason: str) -> ToolResultMessage:
    if reason == "process_ended":
        text = "The process ended while this call ran. What it did is not known."
        state = Completeness("unknown", "no result was recorded")
    else:
        text = "The process ended before this call ran. It did not run."
        state = Completeness("unknown", "never ran")
    facts = Facts(cause=Cause.SIGNAL, reason=reason, completeness=state)
    result = Result(Outcome.INTERRUPTED, (Text(text),), facts)
    return ToolResultMessage(call.id, call.name, model_content(result, call.id), failed=True)


def _pending(transcript: Transcript) -> tuple[Steer, ...]:
    """Return accepted steers that were neither delivered nor said to be dropped, oldest first."""
    waiting: dict[str, Steer] = {}
    for record in transcript.records:
        kind = record["type"]
        if kind == "steer":
            steer = _steer(record)
            if steer is not None:
                waiting[steer.id] = steer
        elif kind == "message":
            waiting.pop(str(record.get("steer")), None)
        elif kind == "stop":
            dropped = record.get("undelivered")
            for name in cast("list[object]", dropped) if isinstance(dropped, list) else ():
                waiting.pop(str(name), None)
    return tuple(waiting.values())


def _steer(record: Mapping[str, object] | Record) -> Steer | None:
    name, text = record.get("steer"), record.get("text")
    if not isinstance(name, str) or not isinstance(text, str) or not text:
        return None
    return Steer(name, text, "end" if record.get("when") == "end" else "boundary")
