"""Tools that work in one folder: commands, scripts, checks and files, held by a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepenny.tool.contract import Tool

    from .workspace import Workspace


def tools(workspace: Workspace) -> tuple[Tool, ...]:
    """Return every tool of this package over one folder, in the order models see them."""
    return ()
