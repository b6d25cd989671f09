"""The agent: the loop, history, sessions, turns, transcript, ledger.

    async with Agent(...) as agent:
        async for event in agent.run("Why is checkout failing?"):
            ...

`Agent` and `SessionStore` are the way in; everything they yield is in `truepenny.agent.event`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent
    from .sessions import SessionStore

__all__ = ["Agent", "SessionStore"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: `truepenny version` imports no agent.
    if name == "Agent":
        from .agent import Agent

        return Agent
    if name == "SessionStore":
        from .sessions import SessionStore

        return SessionStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
