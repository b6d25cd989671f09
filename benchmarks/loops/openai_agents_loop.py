"""The conversation driven by openai-agents."""

from __future__ import annotations

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from measure import measure
from openai import AsyncOpenAI

set_tracing_disabled(True)


def drive(url: str, turns: int) -> int:
    calls = 0

    @function_tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        nonlocal calls
        calls += 1
        return a + b

    async def go() -> None:
        client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
        model = OpenAIChatCompletionsModel(f"turns-{turns}", client)
        agent = Agent("bench", tools=[add], model=model)
        await Runner.run(agent, "go", max_turns=turns + 1)

    asyncio.run(go())
    return calls


measure(drive)
