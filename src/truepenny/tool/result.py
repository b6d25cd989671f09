"""The one result that every tool returns; model text, card, ledger row, trace are views of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from truepenny.execute.ending import ByteCounts, ExitFact
from truepenny.model.message import Image, Text

from .outcome import Cause, Leg, Outcome

Json = Any
"""A JSON value: what `json.loads` can return."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """How much of what was asked for the content covers.

    `unknown` is a state of its own: it is never shown as complete. `shown` and `total` count
    `unit`s; `total` None means that nobody knows. `next` is how to get the rest, ready to paste.
    """

    state: Literal["complete", "partial", "unknown"] = "complete"
    reason: str = ""
    unit: str = ""
    shown: int | None = None
    total: int | None = None
    next: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a call, typed. Everything here that matters is in the text as well.

    `duration` is in seconds. `redactions` counts by rule name. `sandbox` is the level really in
    force (`none` when there is none), `containment` what else holds the process (`limits`,
    `account`, `network`, `gaps`; `truepenny.sandbox.level.Containment.facts`).
    `source` holds where an answer came from (context, namespace, identity, ...).
    `detail` is the tool's own JSON, its keys documented by the tool.
    """

    duration: float = 0.0
    completeness: Completeness = Completeness()
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])
    bytes: ByteCounts = field(default_factory=ByteCounts)
    sandbox: str = "none"
    containment: Mapping[str, str] = field(default_factory=dict[str, str])
    exit: ExitFact | None = None
    cause: Cause | None = None
    leg: Leg | None = None
    reason: str = ""
    """Machine word for a refusal or failure, e.g. `verb_not_allowed`."""
    hint: str = ""
    """What to do instead; a runnable alternative where there is one."""
    command: str = ""
    """The command that produced the content, as a person could run it."""
    source: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()
    """Sentences that a reader of the content must see. They stand before it, where nothing that
    the target wrote can pose as one of them; what machines need of them is in `detail` as well."""
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool call came to. `content` is what the target said, already redacted and bounded."""

    outcome: Outcome
    content: tuple[Text | Image, ...] = ()
    facts: Facts = Facts()
    ends_turn: bool = False

    @property
    def text(self) -> str:
        """The target's text alone, without the facts around it."""
        return "".join(part.text for part in self.content if isinstance(part, Text))

    def with_facts(self, **changes: Any) -> Result:
        """Return the same result with some facts replaced."""
        return replace(self, facts=replace(self.facts, **changes))


NEVER_RAN = Completeness("unknown", "nothing ran")
"""Of a call that was refused or could not be used: it says nothing about its target."""


def refused(reason: str, message: str, hint: str = "", **detail: Json) -> Result:
    """Return a refusal: nothing ran. `reason` is the machine word."""
    return Result(
        Outcome.REFUSED,
        (Text(message),),
        Facts(completeness=NEVER_RAN, reason=reason, hint=hint, detail=detail),
    )


def invalid(reason: str, message: str, hint: str = "", **detail: Json) -> Result:
    """Return a result for arguments that cannot be used: nothing ran."""
    return Result(
        Outcome.INVALID_ARGUMENTS,
        (Text(message),),
        Facts(completeness=NEVER_RAN, reason=reason, hint=hint, detail=detail),
    )
