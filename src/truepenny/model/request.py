"""What is asked of a model, and the one protocol that all models answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .event import ModelEvent
from .message import Message

Effort = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True, eq=False)
class ToolSchema:
    """A tool as the model sees it. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. None leaves a choice to the profile, and then to the provider.

    `tools` must be the same tuple object in every request of a session: wires keep its encoding.
    """

    system: str
    messages: Sequence[Message]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    effort: Effort | None = None
    tool_choice: Literal["auto", "none", "required"] = "auto"


class Model(Protocol):
    """A model that can be asked. Implemented by every wire, `builtin` ones included."""

    @property
    def name(self) -> str:
        """The name people configure and see, `provider/model`."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask; see `truepenny.model.event` for the order of events.

        Raises nothing for a provider's fault. Cancelling the consuming scope ends the request.
        """
        ...

    async def close(self) -> None:
        """Release connections and processes; safe to call twice."""
        ...
