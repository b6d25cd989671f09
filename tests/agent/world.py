"""An agent over a temporary session with a few small tools, for tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from truepenny.agent.agent import Agent
from truepenny.agent.event import RunEvent
from truepenny.agent.limits import Limits
from truepenny.agent.sessions import SessionStore
from truepenny.model.message import Text
from truepenny.model.request import Model
from truepenny.system.clock import ManualClock
from truepenny.system.ids import CountingIds
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import ActionClass, CallContext, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.registry import Registry
from truepenny.tool.result import Facts, Result

from .scripted import Reply, ScriptedModel


def schema(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


TEXT = schema(text={"type": "string"})


async def echo(arguments: Mapping[str, Any], context: CallContext) -> Result:
    context.progress(f"echoing {context.call_id}")
    return Result(Outcome.SUCCESS, (Text(str(arguments.get("text", ""))),), Facts(command="echo"))


async def boom(arguments: Mapping[str, Any], context: CallContext) -> Result:
    raise RuntimeError("the tool broke")


class Gate:
    """A tool that waits to be let through, and remembers what it saw."""

    def __init__(self, name: str = "gate", **fields: Any) -> None:
        self.entered = anyio.Event()
        self.open = anyio.Event()
        self.order: list[str] = []
        self.running = 0
        self.most = 0
        self.cancelled = 0
        self.tool = Tool(name, "Waits.", TEXT, self._run, **fields)

    async def _run(self, arguments: Mapping[str, Any], context: CallContext) -> Result:
        self.order.append(context.call_id)
        self.running += 1
        self.most = max(self.most, self.running)
        self.entered.set()
        try:
            await self.open.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        return Result(Outcome.SUCCESS, (Text("through"),))


ECHO = Tool("echo", "Says it back.", TEXT, echo)
SLOW_WRITE = Tool(
    "write", "Changes something.", TEXT, echo, ActionClass.WRITE, concurrency="sequential"
)
BOOM = Tool("boom", "Breaks.", TEXT, boom)


@asynccontextmanager
async def agent_with(
    root: Path,
    replies: Iterable[Reply],
    *tools: Tool,
    limits: Limits | None = None,
    policy: Policy | None = None,
    repeat: bool = False,
    session_id: str | None = None,
    redactor: Redactor | None = None,
    model: Model | None = None,
    **fields: Any,
) -> AsyncGenerator[tuple[Agent, ScriptedModel], None]:
    scripted = ScriptedModel(replies, repeat=repeat)
    redactor = redactor or Redactor()
    clock = ManualClock()
    store = SessionStore(root, "ada", clock=clock, ids=CountingIds(), redactor=redactor)
    session = await (store.create() if session_id is None else store.open(session_id))
    try:
        # A test that waits for ever fails instead.
        with anyio.fail_after(20):
            async with Agent(
                model=model or scripted,
                registry=Registry(tools or (ECHO,)),
                admission=Admission(policy or Policy()),
                session=session,
                limits=limits or Limits(),
                clock=clock,
                ids=CountingIds(),
                redactor=redactor,
                **fields,
            ) as agent:
                yield agent, scripted
    finally:
        await session.close()


async def collect(agent: Agent, prompt: str = "Why?", **fields: Any) -> list[RunEvent]:
    return [event async for event in agent.run(prompt, **fields)]


def of_type(events: Iterable[RunEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]
