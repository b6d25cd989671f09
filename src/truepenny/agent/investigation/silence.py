"""How long the agent may work without a visible word: then calls are denied until it reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truepenny.tool.contract import Tool
from truepenny.tool.decision import ALLOW, Decision, deny

MOST_SILENT_CALLS = 20
"""Calls without visible text before a checkpoint is due (diagnostics spec 8)."""

TOOL = "hypothesis"
"""The tool that reports; it is never held back by the silence that it ends."""


class Silence:
    """Counts the calls it lets through since something was last seen.

    A part of the one admission, asked last: it narrows, and never lets through what was denied.
    """

    def __init__(self, most: int = MOST_SILENT_CALLS) -> None:
        self._most = most
        self.calls = 0

    def broken(self) -> None:
        """Something became visible: text, or a hypothesis that is not what it was."""
        self.calls = 0

    def judge(self, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
        """Return a denial once the silence is too long."""
        if tool.name == TOOL:
            return ALLOW
        if self.calls >= self._most:
            return deny(
                "checkpoint_due",
                f"{self.calls} calls were made without a visible word. Say first where you stand: "
                "two to five hypotheses, each with what speaks for and against it, how sure you "
                f"are, and what you look at next. Write it, or record it with `{TOOL}`.",
                rule="investigation.silence",
                hint=f"write a checkpoint, or call {TOOL} with what has changed",
            )
        self.calls += 1
        return ALLOW
