"""Every practice incident, end to end: the real kubectl, the practice cluster, the real tools."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World, scenarios
from truepenny.diagnose.analyst import Analyst
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.cluster_list import cluster_list_tool
from truepenny.diagnose.kubectl import kubectl_tool
from truepenny.model.event import MessageEnd
from truepenny.model.message import AssistantMessage, Message, ToolCall, ToolResultMessage, user
from truepenny.model.request import ModelRequest
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.invoke import invoke
from truepenny.tool.registry import Registry
from truepenny.tool.view import model_content

pytestmark = pytest.mark.anyio

FAST = (
    "checkout-oom",
    "healthy",
    "database-down",
    "hostile-logs",
    "restricted-access",
    "service-selector",
)
INCIDENTS = [
    pytest.param(each.name, marks=() if each.name in FAST else pytest.mark.slow)
    for each in scenarios()
    # The hard ones are scored, not promised: `truepenny evaluate` tells which it fails.
    if "hard" not in each.tags
]
MOST_CALLS = 40


async def investigate(scenario: str, scratch: Path) -> str:
    world = World.load(scenario, datetime.now(UTC))
    with PracticeCluster(world) as practice:
        clusters = Clusters.from_kubeconfig(practice.kubeconfig, env=dict(os.environ))
        registry = Registry([cluster_list_tool(clusters), kubectl_tool(clusters)])
        messages: list[Message] = [user(world.scenario.question)]
        for _ in range(MOST_CALLS):
            message = await _request(messages, registry)
            messages.append(message)
            if not message.tool_calls:
                return message.text
            messages += await _answer(message.tool_calls, registry, scratch)
        raise AssertionError("it does not come to an end")


async def _request(messages: list[Message], registry: Registry) -> AssistantMessage:
    async for event in Analyst().stream(ModelRequest("", messages, registry.schemas)):
        if isinstance(event, MessageEnd):
            return event.message
    raise AssertionError("no end")


async def _answer(
    calls: tuple[ToolCall, ...], registry: Registry, scratch: Path
) -> list[ToolResultMessage]:
    found: dict[str, ToolResultMessage] = {}

    async def run(call: ToolCall) -> None:
        context = CallContext("me", "s", call.id, scratch, Redactor())
        admission = Admission(Policy(autonomy=Autonomy.READ_ONLY))
        done = await invoke(call.name, call.arguments or {}, context, registry, admission)
        content = model_content(done.result, call.id)
        found[call.id] = ToolResultMessage(call.id, call.name, content, done.result.outcome.failed)

    async with anyio.create_task_group() as group:
        for call in calls:
            group.start_soon(run, call)
    return [found[call.id] for call in calls]


@pytest.mark.parametrize("name", INCIDENTS)
async def test_the_root_and_the_cause_lead_the_answer(name: str, tmp_path: Path) -> None:
    answer = await investigate(name, tmp_path)
    root = World.load(name, datetime.now(UTC)).scenario.root
    assert "No language model was used" in answer
    if not root:
        assert answer.startswith("**I found nothing wrong")
        assert "**What I looked at**" in answer
        return
    # What leads the answer, before anything that is said not to belong to it.
    lead = answer.split("**Also wrong")[0].split("**Other problems")[0]
    assert root["name"] in lead
    assert "**Evidence**" in lead and "does not say why" not in lead.splitlines()[0]
