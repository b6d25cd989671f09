"""What a tool is, and what it may rely on while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from truepenny.system.clock import Clock, SystemClock
from truepenny.text.redact import Redactor

from .decision import Decision
from .result import Result


class ActionClass(StrEnum):
    """What a call does to the world (tools spec 3.1)."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    DISPATCH = "dispatch"
    OUTWARD = "outward"
    GIT_DESTRUCTIVE = "git_destructive"
    SYSTEM_MODIFY = "system_modify"


class Plane(StrEnum):
    """The family a tool belongs to (tools spec 2.0), and `observe` for cluster readers."""

    OBSERVE = "observe"
    MUTATE = "mutate"
    EXECUTE = "execute"
    ORCHESTRATE = "orchestrate"
    RETRIEVE = "retrieve"
    INTERACT = "interact"
    ARTIFACT = "artifact"
    GATEWAY = "gateway"


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a running tool may use. Cancelling the surrounding scope stops the call.

    `user` and `session` come from authentication, never from arguments. `scratch` is a directory
    of this session where a tool may leave whole outputs. `progress` takes one short line.
    """

    user: str
    session: str
    call_id: str
    scratch: Path
    redactor: Redactor
    clock: Clock = field(default_factory=SystemClock)
    progress: Callable[[str], None] = lambda line: None


Run = Callable[[Mapping[str, Any], CallContext], Awaitable[Result]]
Judge = Callable[[Mapping[str, Any]], Decision]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tool:
    """One tool. `parameters` is a JSON Schema of type object with `additionalProperties: false`.

    `run` gets arguments that fit the schema and returns a `Result`; what it raises becomes an
    `internal_error`. `judge`, if given, is the tool's own policy over its arguments (pure, no
    input or output) and part of the one admission. `timeout` in seconds is the outer limit.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Run
    action_class: ActionClass = ActionClass.READ
    plane: Plane = Plane.OBSERVE
    placement: Literal["direct", "gateway"] = "direct"
    concurrency: Literal["parallel", "sequential"] = "parallel"
    timeout: float = 120.0
    judge: Judge | None = None
    example: Mapping[str, Any] = field(default_factory=dict[str, Any])
