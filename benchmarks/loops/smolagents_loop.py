"""The conversation driven by smolagents."""

from __future__ import annotations

from measure import measure
from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool


def drive(url: str, turns: int) -> int:
    calls = 0

    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: one number
            b: the other
        """
        nonlocal calls
        calls += 1
        return a + b

    model = OpenAIServerModel(
        model_id=f"final-answer-{turns}", api_base=f"{url}/v1", api_key="none"
    )
    agent = ToolCallingAgent([add], model, max_steps=turns + 1, verbosity_level=LogLevel.OFF)
    agent.run("go")
    return calls


measure(drive)
