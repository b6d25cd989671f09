"""Runs the analyst as the agent loop does: real view of results, tools answered by `Answers`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.diagnose.triage.world import NOW, Objects
from truepenny.diagnose.analyst import Analyst
from truepenny.diagnose.triage.observation import Status
from truepenny.model.event import MessageEnd, ModelEvent
from truepenny.model.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    user,
)
from truepenny.model.request import ModelRequest, ToolSchema
from truepenny.system.clock import ManualClock
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Facts, Result
from truepenny.tool.view import model_content

TOOLS = (
    ToolSchema("cluster_list", "d", {"type": "object"}),
    ToolSchema("kubectl", "d", {"type": "object"}),
)
MOST_ROUNDS = 20

Tool = Callable[[ToolCall], Result]


def success(text: str, **source: str) -> Result:
    return Result(Outcome.SUCCESS, (Text(text),), Facts(source=source))


def failure(outcome: Outcome, reason: str, text: str = "", hint: str = "") -> Result:
    return Result(outcome, (Text(text),), Facts(reason=reason, hint=hint))


@dataclass
class Answers:
    """The two tools over objects in memory, by cluster name. `refuse` answers before them."""

    clusters: Mapping[str, Objects]
    refuse: Callable[[tuple[str, ...]], Result | None] = lambda argv: None
    calls: list[ToolCall] = field(default_factory=list[ToolCall])

    def __call__(self, call: ToolCall) -> Result:
        self.calls.append(call)
        arguments: Mapping[str, Any] = call.arguments or {}
        if call.name == "cluster_list":
            return success(json.dumps({"clusters": [{"name": name} for name in self.clusters]}))
        argv = tuple(arguments["args"])
        refused = self.refuse(argv)
        if refused is not None:
            return refused
        name = arguments.get("cluster") or next(iter(self.clusters))
        world = self.clusters[name]
        if "json" not in argv and argv[0] == "get" and "name" not in argv:
            return success(_table(world, argv), cluster=name)
        status, text, reason = world.say(argv)
        outcome = {
            Status.OK: Outcome.SUCCESS,
            Status.NO_MATCH: Outcome.NO_MATCH,
            Status.FORBIDDEN: Outcome.TARGET_FAILED,
        }[status]
        return Result(outcome, (Text(text),), Facts(reason=reason, source={"cluster": name}))


@dataclass
class Talk:
    """One session: `ask` returns the final answer; `messages` is the history."""

    tool: Tool
    tools: tuple[ToolSchema, ...] = TOOLS
    messages: list[Message] = field(default_factory=list[Message])
    events: list[ModelEvent] = field(default_factory=list[ModelEvent])
    rounds: int = 0

    async def ask(self, question: str) -> str:
        self.messages.append(user(question))
        analyst = Analyst(ManualClock(NOW))
        for _ in range(MOST_ROUNDS):
            message = await self._request(analyst)
            self.messages.append(message)
            if not message.tool_calls:
                return message.text
            self.rounds += 1
            for call in message.tool_calls:
                result = self.tool(call)
                content = model_content(result, call.id)
                failed = result.outcome.failed
                self.messages.append(ToolResultMessage(call.id, call.name, content, failed))
        raise AssertionError("it does not come to an end")

    async def _request(self, analyst: Analyst) -> AssistantMessage:
        async for event in analyst.stream(ModelRequest("", self.messages, self.tools)):
            self.events.append(event)
            if isinstance(event, MessageEnd):
                return event.message
        raise AssertionError("no end")


def kubectl_calls(messages: Sequence[Message]) -> list[tuple[str, ...]]:
    return [
        tuple((call.arguments or {})["args"])
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
        if call.name == "kubectl"
    ]


def _table(world: Objects, argv: tuple[str, ...]) -> str:
    """Print objects as kubectl's tables do, with the columns that the analyst reads."""
    kinds = {kind.rstrip("s") for kind in argv[1].split(",")}
    where = argv[argv.index("-n") + 1] if "-n" in argv else None
    rows: list[tuple[str, ...]] = []
    for each in world.objects:
        kind, space = each["kind"].lower(), each["metadata"].get("namespace", "")
        if kind.rstrip("s") not in {name.removesuffix("e") for name in kinds} | kinds:
            continue
        if where not in (None, space):
            continue
        name = each["metadata"]["name"]
        if kind == "pod":
            statuses = each["status"].get("containerStatuses", [])
            ready = sum(status["ready"] for status in statuses)
            state = each["status"]["phase"]
            for status in statuses:
                state = status["state"].get("waiting", {}).get("reason", state)
            node = each["spec"].get("nodeName") or "<none>"
            rows.append((space, name, f"{ready}/{len(statuses)}", state, node))
        elif kind == "namespace":
            rows.append((name, "Active", "1d"))
        else:
            rows.append((space, f"{kind}.x/{name}", "1d"))
    if not rows:
        return "No resources found."
    titles: tuple[str, ...] = ("NAME", "STATUS", "AGE")
    if "pods" in argv[1] or argv[1] == "pod":
        titles = ("NAMESPACE", "NAME", "READY", "STATUS", "NODE")
    elif "," in argv[1]:
        titles = ("NAMESPACE", "NAME", "AGE")
    return "\n".join("   ".join(row) for row in [titles, *rows])
