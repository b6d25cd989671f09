"""The conversation driven by our own loop, with its transcript and ledger on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from measure import measure

from truepenny.agent.agent import Agent
from truepenny.agent.event import RunFinished
from truepenny.agent.limits import Limits
from truepenny.agent.sessions import SessionStore
from truepenny.model.capability import CapabilityMemory
from truepenny.model.endpoint import Endpoint
from truepenny.model.message import Text
from truepenny.model.profile import Profile
from truepenny.model.wires.openai_chat import OpenAIChatModel
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.registry import Registry
from truepenny.tool.result import Result

NUMBER = {"type": "integer"}
SCHEMA = {
    "type": "object",
    "properties": {"a": NUMBER, "b": NUMBER},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def drive(url: str, turns: int) -> int:
    return anyio.run(_drive, url, turns)


async def _drive(url: str, turns: int) -> int:
    calls = 0

    async def add(arguments: Mapping[str, Any], context: CallContext) -> Result:
        nonlocal calls
        calls += 1
        # Not always the same sum: a real loop guard ends a run that goes in circles.
        return Result(Outcome.SUCCESS, (Text(f"{arguments['a'] + arguments['b']}, call {calls}"),))

    with tempfile.TemporaryDirectory() as folder:
        memory = CapabilityMemory(Path(folder) / "capabilities.json")
        endpoint = Endpoint("zero", f"{url}/v1", "none")
        model = OpenAIChatModel(endpoint, Profile(f"turns-{turns}"), capabilities=memory)
        session = await SessionStore(Path(folder), "bench").create()
        async with Agent(
            model=model,
            registry=Registry([Tool("add", "Add two numbers.", SCHEMA, add)]),
            admission=Admission(Policy()),
            session=session,
            limits=Limits(max_turns=turns + 2, max_tool_calls=turns + 1),
        ) as agent:
            async for event in agent.run("go"):
                if isinstance(event, RunFinished) and not event.stop.completed:
                    raise RuntimeError(event.stop.to_json())
        await session.close()
        await model.close()
    return calls


measure(drive)
