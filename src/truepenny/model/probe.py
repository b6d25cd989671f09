"""Asking a model two small questions to learn what works: one for text, one for a tool call.

A probe never raises for a model's fault; every fault is a `FailureKind` in the report. It costs a
few dozen tokens. Builtin models are not asked: that they can be made is all there is to learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anyio

from truepenny.errors import TruepennyError
from truepenny.system.clock import Clock, SystemClock

from .event import Learned, MessageEnd, Quirk, StreamFailed, TextDelta, ThinkingDelta, ToolCallStart
from .failure import Failure, FailureKind
from .message import user
from .request import Model, ModelRequest, ToolSchema

PROBE_SECONDS = 60.0
"""Per question. A model that needs longer for one word is of no use in a run."""

PROBE_TOKENS = 1024
"""Room for the thinking of models that cannot be told not to think."""

_TOOL = ToolSchema(
    "report_word",
    "Report one word.",
    {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)
_SYSTEM = "You are being tested. Do exactly what is asked, as briefly as you can."
_TEXT_QUESTION = "Answer with the one word: ready"
_TOOL_QUESTION = 'Call the tool report_word with the word "ready". Write nothing else.'


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was seen. None is "not learned", for example because an earlier step failed.

    `first_event` and `total` are seconds of the text question. `streaming` says that text came
    before the end; `tool_call` that a call came whose arguments fit. `failure` is the first fault.
    `learned` holds capabilities by name, `quirks` the kinds of stream faults that were dealt with.
    """

    name: str
    reachable: bool | None = None
    authorized: bool | None = None
    streaming: bool | None = None
    tool_call: bool | None = None
    first_event: float | None = None
    total: float | None = None
    failure: Failure | None = None
    learned: Mapping[str, str] = field(default_factory=dict[str, str])
    quirks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the model can serve a run."""
        return self.failure is None and self.streaming is True and self.tool_call is True

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON, all fields always there."""
        failure = None
        if self.failure is not None:
            failure = {
                "kind": self.failure.kind.value,
                "message": self.failure.message,
                "status": self.failure.status,
                "phase": self.failure.phase,
            }
        return {
            "name": self.name,
            "ok": self.ok,
            "reachable": self.reachable,
            "authorized": self.authorized,
            "streaming": self.streaming,
            "tool_call": self.tool_call,
            "first_event_seconds": self.first_event,
            "total_seconds": self.total,
            "failure": failure,
            "learned": dict(self.learned),
            "quirks": list(self.quirks),
        }


@dataclass(slots=True)
class _Answer:
    """What one question came to."""

    deltas: int = 0
    call_fits: bool = False
    first_event: float | None = None
    total: float = 0.0
    failure: Failure | None = None
    learned: dict[str, str] = field(default_factory=dict[str, str])
    quirks: list[str] = field(default_factory=list[str])


async def probe_model(
    model: Model, *, clock: Clock | None = None, seconds: float = PROBE_SECONDS
) -> ProbeReport:
    """Ask the two questions. The caller closes the model."""
    clock = clock or SystemClock()
    text = await _ask(model, _request(_TEXT_QUESTION), clock, seconds)
    call: _Answer | None = None
    if text.failure is None or text.failure.kind is FailureKind.EMPTY_RESPONSE:
        call = await _ask(model, _request(_TOOL_QUESTION, _TOOL), clock, seconds)
    answers = [answer for answer in (text, call) if answer is not None]
    failure = next((answer.failure for answer in answers if answer.failure), None)
    return ProbeReport(
        model.name,
        reachable=_reachable(text.failure),
        authorized=_authorized(text.failure),
        streaming=text.deltas > 0 if text.failure is None else None,
        tool_call=call.call_fits if call is not None and call.failure is None else None,
        first_event=text.first_event,
        total=text.total if text.failure is None else None,
        failure=failure,
        learned={name: value for answer in answers for name, value in answer.learned.items()},
        quirks=tuple(dict.fromkeys(kind for answer in answers for kind in answer.quirks)),
    )


def unusable(name: str, error: TruepennyError) -> ProbeReport:
    """Return the report of a model that could not even be made: a setting or file is missing."""
    where = f"{error.where}: " if error.where else ""
    failure = Failure(FailureKind.UNKNOWN, f"{where}{error.message}", phase="configuration")
    return ProbeReport(name, failure=failure)


def builtin(name: str) -> ProbeReport:
    """Return the report of a builtin model that could be made: there is nothing to reach."""
    return ProbeReport(name, reachable=True, authorized=True, streaming=True, tool_call=True)


def _request(question: str, *tools: ToolSchema) -> ModelRequest:
    return ModelRequest(_SYSTEM, [user(question)], tools, max_output_tokens=PROBE_TOKENS)


async def _ask(model: Model, request: ModelRequest, clock: Clock, seconds: float) -> _Answer:
    answer = _Answer()
    begun = clock.monotonic()
    with anyio.move_on_after(seconds) as scope:
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if answer.first_event is None and not isinstance(event, StreamFailed | Learned):
                    answer.first_event = clock.monotonic() - begun
                _note(event, answer)
    answer.total = clock.monotonic() - begun
    if scope.cancelled_caught:
        answer.failure = Failure(
            FailureKind.TIMEOUT, f"no whole answer after {seconds:g} s", phase="stream"
        )
    return answer


def _note(event: object, answer: _Answer) -> None:
    match event:
        case TextDelta() | ThinkingDelta() | ToolCallStart():
            answer.deltas += 1
        case Learned():
            answer.learned[event.capability] = event.value
        case Quirk():
            answer.quirks.append(event.kind)
        case MessageEnd():
            answer.call_fits = any(
                call.name == _TOOL.name and call.arguments is not None and "word" in call.arguments
                for call in event.message.tool_calls
            )
        case StreamFailed():
            answer.failure = event.failure
        case _:
            pass


def _reachable(failure: Failure | None) -> bool | None:
    if failure is None or failure.status is not None:
        return True
    if failure.kind in (FailureKind.NETWORK, FailureKind.TIMEOUT):
        # Connected and then silent is reached; not connected is not.
        return failure.phase not in ("connect", "request")
    return False if failure.phase == "connect" else None


def _authorized(failure: Failure | None) -> bool | None:
    if failure is None:
        return True
    if failure.kind is FailureKind.AUTH:
        return False
    # An answer about the content or the account comes after the key was accepted.
    accepted = {
        FailureKind.BILLING,
        FailureKind.EMPTY_RESPONSE,
        FailureKind.CONTENT_POLICY,
        FailureKind.CONTEXT_OVERFLOW,
    }
    return True if failure.kind in accepted else None
