"""What a run reports: the closed set of run events, version 1.

`to_json()` of each is one line of `truepenny run --json` and one message of a stream. Rules:
- `type` names the event and every key below is always there; later versions add keys and types,
  they change none.
- Text is redacted. Ids: `turn` names the turn, `call` the tool call, as the ledger does.
- Order: `run_started`, then per turn `turn_started` ... `turn_finished`, then `run_finished` last.
  `tool_started` comes before the `tool_finished` of the same call; calls of one batch interleave.
- `turn_finished` ends one turn. Only `run_finished` ends the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Literal

from .stop import Stop

VERSION = 1


@cache
def _names(kind: type[_Fields]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@dataclass(frozen=True, slots=True)
class _Fields:
    """Turns a flat dataclass into JSON: its type, then its fields in the order they are written."""

    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        made: dict[str, Any] = {"type": self.type}
        for name in _names(type(self)):
            value = getattr(self, name)
            made[name] = value.to_json() if isinstance(value, Stop) else value
        return made


@dataclass(frozen=True, slots=True)
class RunStarted(_Fields):
    """A run begins. `resumed` counts the messages that an earlier run left in the session."""

    type: ClassVar[str] = "run_started"
    session: str
    user: str
    model: str
    tools: Sequence[str]
    resumed: int
    time: str
    v: int = VERSION


@dataclass(frozen=True, slots=True)
class TurnStarted(_Fields):
    """The prompt of a turn is accepted: it is on the disk."""

    type: ClassVar[str] = "turn_started"
    turn: str
    prompt: str
    time: str


@dataclass(frozen=True, slots=True)
class ModelStarted(_Fields):
    """A request goes to the model. `request` counts from 1 within the turn."""

    type: ClassVar[str] = "model_started"
    turn: str
    model: str
    request: int
    messages: int


@dataclass(frozen=True, slots=True)
class TextDelta(_Fields):
    """More text of the model."""

    type: ClassVar[str] = "text_delta"
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta(_Fields):
    """More visible reasoning of the model."""

    type: ClassVar[str] = "thinking_delta"
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class Quirk(_Fields):
    """A fault in the provider's stream that was seen and dealt with; kinds as in model.event."""

    type: ClassVar[str] = "quirk"
    turn: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Learned(_Fields):
    """A capability of the model was learned from a refusal, and the request sent once more."""

    type: ClassVar[str] = "learned"
    turn: str
    capability: str
    value: str
    because: str


@dataclass(frozen=True, slots=True)
class ToolStarted(_Fields):
    """A call is dealt with. It runs only if `admission.verdict` is `allow` and `runs` is true.

    `admission` is `{verdict, reason, rule}`. A call that does not fit its tool never gets to run.
    """

    type: ClassVar[str] = "tool_started"
    turn: str
    call: str
    tool: str
    arguments: Any
    admission: Mapping[str, str]
    runs: bool


@dataclass(frozen=True, slots=True)
class ToolProgress(_Fields):
    """One short line from a running tool."""

    type: ClassVar[str] = "tool_progress"
    turn: str
    call: str
    tool: str
    line: str


@dataclass(frozen=True, slots=True)
class ToolFinished(_Fields):
    """What a call came to.

    `outcome` is a value of `tool.outcome.Outcome`, `facts` as in `tool.view.to_json`, `summary` one
    line for a person. `progress_dropped` counts progress lines that a slow reader did not get.
    """

    type: ClassVar[str] = "tool_finished"
    turn: str
    call: str
    tool: str
    outcome: str
    failed: bool
    facts: Mapping[str, Any]
    summary: str
    progress_dropped: int = 0


@dataclass(frozen=True, slots=True)
class SteerAccepted(_Fields):
    """A steer or follow-up is on the disk and will be delivered. `when` is `boundary` or `end`."""

    type: ClassVar[str] = "steer_accepted"
    turn: str
    steer: str
    when: Literal["boundary", "end"]
    text: str


@dataclass(frozen=True, slots=True)
class SteerDelivered(_Fields):
    """A steer is part of the next request."""

    type: ClassVar[str] = "steer_delivered"
    turn: str
    steer: str


@dataclass(frozen=True, slots=True)
class Repaired(_Fields):
    """The history was repaired; kinds as in `agent.repair.RepairKind`."""

    type: ClassVar[str] = "repair"
    turn: str
    kind: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class Retry(_Fields):
    """A failed or empty answer is asked for again in `delay` seconds; no text of it was shown."""

    type: ClassVar[str] = "retry"
    turn: str
    kind: str
    message: str
    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class UsageReported(_Fields):
    """Tokens of one request as reported; null is not reported. `cost` only if one was charged."""

    type: ClassVar[str] = "usage"
    turn: str
    model: str
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notice(_Fields):
    """Something a person should know. `kind` is a machine word."""

    type: ClassVar[str] = "notice"
    turn: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Error(_Fields):
    """A fault. It does not end the turn by itself; `turn_finished` says how that ends."""

    type: ClassVar[str] = "error"
    turn: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class TurnFinished(_Fields):
    """The end of a turn. `undelivered` names steers that were accepted and are now discarded."""

    type: ClassVar[str] = "turn_finished"
    turn: str
    stop: Stop
    undelivered: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RunFinished(_Fields):
    """The end of the run; always the last event.

    `answer` is the last turn's text. `answer_state`: `final` is whole, `partial` is what there was
    when a limit or an abort ended the turn, `none` is no text at all. `totals` is
    `{turns, requests, calls, outcomes, usage, duration}`, `outcomes` counted by name. `evidence` is
    `{resolved, unresolved}`: the call ids that the answer cites, by whether the ledger knows them.
    `claims` is `{counts, sentences, omitted}`: the verdict on each sentence of the answer, as in
    `agent.claim.verdict`. `hypotheses` are those of a deep investigation
    (`agent.investigation.hypothesis`), empty in any other run.
    `recorded` is false when some of the run could not be written to the transcript.
    """

    type: ClassVar[str] = "run_finished"
    turn: str
    stop: Stop
    answer: str
    answer_state: Literal["final", "partial", "none"]
    totals: Mapping[str, Any]
    evidence: Mapping[str, Sequence[str]]
    claims: Mapping[str, Any]
    hypotheses: Sequence[Mapping[str, Any]]
    recorded: bool
    session: str


RunEvent = (
    RunStarted
    | TurnStarted
    | ModelStarted
    | TextDelta
    | ThinkingDelta
    | Quirk
    | Learned
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | SteerAccepted
    | SteerDelivered
    | Repaired
    | Retry
    | UsageReported
    | Notice
    | Error
    | TurnFinished
    | RunFinished
)

TYPES: Mapping[str, type[RunEvent]] = {
    kind.type: kind
    for kind in (
        RunStarted, TurnStarted, ModelStarted, TextDelta, ThinkingDelta, Quirk, Learned,
        ToolStarted, ToolProgress, ToolFinished, SteerAccepted, SteerDelivered, Repaired, Retry,
        UsageReported, Notice, Error, TurnFinished, RunFinished,
    )
}  # fmt: skip
"""Every event by the value of its `type`."""
