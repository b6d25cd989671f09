"""Read-only tools over clusters, and the rules that explain what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepenny.tool.contract import Tool

    from .cluster import Clusters


def tools(clusters: Clusters, *, max_bytes: int | None = None) -> tuple[Tool, ...]:
    """Return every tool of this package over the given clusters, in the order models see them.

    `max_bytes` is how much of an answer is shown where a call does not say.
    """
    from .cluster_list import cluster_list_tool
    from .kubectl import kubectl_tool
    from .reader import DEFAULT_BYTES
    from .triage.tool import triage_tool

    kubectl = kubectl_tool(clusters, default_bytes=max_bytes or DEFAULT_BYTES)
    return (cluster_list_tool(clusters), kubectl, triage_tool(clusters))
