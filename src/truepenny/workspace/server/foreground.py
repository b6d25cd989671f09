"""Bash as the server offers it: what it starts in the background would end with it, unasked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.result import Result, refused

BACKGROUND = "background"


def foreground(tool: Tool) -> Tool:
    """Return the tool without that argument, which is refused should it come all the same."""
    properties = dict(tool.parameters["properties"])
    properties.pop(BACKGROUND, None)

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        if arguments.get(BACKGROUND):
            return refused(
                "no_background",
                "the tool server runs no commands in the background",
                "run it in the foreground",
            )
        return await tool.run(arguments, context)

    return replace(tool, parameters={**tool.parameters, "properties": properties}, run=run)
