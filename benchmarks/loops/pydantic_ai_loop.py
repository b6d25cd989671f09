"""The conversation driven by pydantic-ai."""

from __future__ import annotations

from measure import measure
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits


def drive(url: str, turns: int) -> int:
    provider = OpenAIProvider(base_url=f"{url}/v1", api_key="none")
    agent = Agent(OpenAIChatModel(f"turns-{turns}", provider=provider))
    calls = 0

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        nonlocal calls
        calls += 1
        return a + b

    agent.run_sync("go", usage_limits=UsageLimits(request_limit=None))
    return calls


measure(drive)
