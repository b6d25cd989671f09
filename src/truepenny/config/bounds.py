"""Bounds that the settings share with other parts; here once, importable for nothing."""

from __future__ import annotations

MAX_TURNS = 100
"""Model requests in one turn (assistant spec 2.6): more is a loop, not an investigation."""

MAX_TOOL_CALLS = 200
"""Tool calls in one turn: two for each request, as parallel reads come."""

MAX_PROGRAM_SECONDS = 300
"""For a program of ours that a command asks for (assistant spec 3.3)."""
