"""The one list of tools. Its order and bytes stay the same for a session: prefixes stay cached."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from truepenny.model.request import ToolSchema

from .contract import Tool

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""Names that every wire accepts (the narrowest allows 64 of [A-Za-z0-9_-])."""


class Registry:
    """Tools by name, in the order given.

    Raises ValueError at construction for a bad or repeated name, a missing description, or
    parameters that are not a closed object schema: such a tool would fail on its first call.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            _check(tool)
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name!r}")
            self._tools[tool.name] = tool
        self._schemas = tuple(
            ToolSchema(tool.name, tool.description, tool.parameters)
            for tool in self._tools.values()
            if tool.placement == "direct"
        )

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is offered: always the same tuple object."""
        return self._schemas

    @property
    def names(self) -> tuple[str, ...]:
        """All names, also those behind the gateway."""
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool, or None; names are exact, never guessed."""
        return self._tools.get(name)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Return up to three names that `name` may have meant."""
        return tuple(difflib.get_close_matches(name, self._tools, n=3))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _check(tool: Tool) -> None:
    if not NAME.fullmatch(tool.name):
        raise ValueError(f"tool name {tool.name!r}: use lower-case words joined by _")
    if not tool.description.strip():
        raise ValueError(f"tool {tool.name}: a description is missing")
    schema = tool.parameters
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        raise ValueError(f"tool {tool.name}: parameters must be an object schema that is closed")
