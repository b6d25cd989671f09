"""Read-only tools over clusters, and the rules that explain what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepenny.tool.contract import Tool

    from .cluster import Clusters


def tools(clusters: Clusters) -> tuple[Tool, ...]:
    """Return every tool of this package over the given clusters, in the order models see them."""
    from .cluster_list import cluster_list_tool
    from .kubectl import kubectl_tool
    from .triage.tool import triage_tool

    return (cluster_list_tool(clusters), kubectl_tool(clusters), triage_tool(clusters))
