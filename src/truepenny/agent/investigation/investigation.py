"""What makes a session a deep investigation."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from truepenny.tool.contract import Tool

from .hypothesis import Hypotheses
from .silence import Silence
from .tool import hypothesis_tool

MARK = "[Deep Investigation]"
"""A prompt that begins so turns a session into a deep investigation (diagnostics spec 8)."""


class Investigation:
    """The hypotheses of one session, the tool that keeps them, and the limit of silence.

    `calls` are the ids of the session's calls; `records` those of its transcript so far.
    """

    def __init__(self, calls: Container[str], records: Sequence[Mapping[str, Any]] = ()) -> None:
        self.hypotheses = Hypotheses()
        self.hypotheses.restore(records)
        self.silence = Silence()
        self.tool: Tool = hypothesis_tool(self.hypotheses, self.silence, calls)
