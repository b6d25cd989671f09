"""What went through the network proxy while a tool ran, as facts and notes of its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truepenny.sandbox.network.way_out import WayOut
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.result import Result

MOST_NOTES = 10
"""Connections that a model reads about; `detail` has all that the proxy keeps."""


def with_passages(tool: Tool, way: WayOut) -> Tool:
    """Return the tool with `Facts.detail["network"]`: one line for each connection, allowed or not.

    A connection does not tell whose it is: with commands in the background theirs are among them.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        mark = way.proxy.decisions.mark()
        result = await tool.run(arguments, context)
        lines = way.proxy.decisions.lines(mark)
        if not lines:
            return result
        notes = [f"network, while it ran: {line}" for line in lines[:MOST_NOTES]]
        if len(lines) > MOST_NOTES:
            notes.append(f"network: {len(lines) - MOST_NOTES} further connections")
        return result.with_facts(
            detail={**result.facts.detail, "network": lines},
            notes=(*result.facts.notes, *notes),
        )

    return replace(tool, run=run)
