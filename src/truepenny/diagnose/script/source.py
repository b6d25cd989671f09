"""Where scripts come from: what the tools here need of skills, and nothing more."""

from __future__ import annotations

from typing import Protocol

from truepenny.tool.script import Script


class ScriptSource(Protocol):
    """Finds a script by its skill and name."""

    def script(self, skill: str, name: str) -> Script:
        """Return the script; raises UnknownScript with the known ones."""
        ...
