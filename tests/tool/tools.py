"""Small real tools for the tests of the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from truepenny.model.message import Text
from truepenny.system.clock import ManualClock
from truepenny.text.redact import Redactor
from truepenny.tool.contract import ActionClass, CallContext, Tool
from truepenny.tool.decision import Decision
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result

ECHO_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"say": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
    "required": ["say"],
    "additionalProperties": False,
}


async def echo(arguments: Mapping[str, Any], context: CallContext) -> Result:
    return Result(Outcome.SUCCESS, (Text(arguments["say"] * arguments.get("times", 1)),))


def tool(
    name: str = "echo",
    run: Any = echo,
    action_class: ActionClass = ActionClass.READ,
    judge: Callable[[Mapping[str, Any]], Decision] | None = None,
    timeout: float = 5.0,
    schema: Mapping[str, Any] = ECHO_SCHEMA,
    description: str = "Say it again.",
) -> Tool:
    return Tool(
        name, description, schema, run, action_class=action_class, judge=judge, timeout=timeout,
        example={"say": "hello"},
    )  # fmt: skip


def context(redactor: Redactor | None = None) -> CallContext:
    return CallContext(
        user="u", session="s", call_id="call_1", scratch=Path("/nonexistent"),
        redactor=redactor or Redactor(), clock=ManualClock(),
    )  # fmt: skip
