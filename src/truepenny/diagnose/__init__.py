"""Read-only tools over clusters and hosts, and the rules that explain what they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepenny.config.settings import SandboxSettings
    from truepenny.tool.contract import Tool

    from .cluster import Clusters
    from .host.host import Hosts
    from .script.source import ScriptSource


def tools(clusters: Clusters, *, max_bytes: int | None = None) -> tuple[Tool, ...]:
    """Return every tool of this package over the given clusters, in the order models see them.

    `max_bytes` is how much of an answer is shown where a call does not say.
    """
    from .cluster_list import cluster_list_tool
    from .kubectl import kubectl_tool
    from .pod.pod_exec import pod_exec_tool
    from .reader import DEFAULT_BYTES
    from .triage.tool import triage_tool

    kubectl = kubectl_tool(clusters, default_bytes=max_bytes or DEFAULT_BYTES)
    shown = max_bytes or DEFAULT_BYTES
    made = [
        cluster_list_tool(clusters),
        kubectl,
        pod_exec_tool(clusters, max_bytes=shown),
        triage_tool(clusters),
    ]
    if any(cluster.debug_jobs for cluster in clusters):
        from .node.debug_pods import DebugPods
        from .node.node_exec import node_exec_tool

        made.append(node_exec_tool(clusters, DebugPods(), max_bytes=shown))
    return tuple(made)


def line_tools(
    clusters: Clusters,
    sandbox: SandboxSettings,
    env: Mapping[str, str],
    *,
    max_bytes: int | None = None,
) -> tuple[Tool, ...]:
    """Return `bash` for lines that only read. Where a workspace is open its own `bash` is there
    instead. `env` is our own environment."""
    from .bash.tool import bash_tool
    from .reader import DEFAULT_BYTES

    return (bash_tool(clusters, sandbox, env, max_bytes=max_bytes or DEFAULT_BYTES),)


def host_tools(
    hosts: Hosts, *, max_bytes: int | None = None, max_seconds: float | None = None
) -> tuple[Tool, ...]:
    """Return the tools over the given hosts.

    `max_seconds` is the most that a call may ask for; ending what it left on its host comes on top.
    """
    from .host.host_exec import DEFAULT_BYTES, MAX_SECONDS, host_exec_tool
    from .host.host_list import host_list_tool

    longest = min(max_seconds or MAX_SECONDS, MAX_SECONDS)
    run = host_exec_tool(hosts, max_bytes=max_bytes or DEFAULT_BYTES, max_seconds=longest)
    return (host_list_tool(hosts), run)


def script_tools(
    clusters: Clusters,
    hosts: Hosts,
    source: ScriptSource,
    settings: SandboxSettings,
    env: Mapping[str, str],
    *,
    max_bytes: int | None = None,
) -> tuple[Tool, ...]:
    """Return the tools that run a skill's scripts, each where there is something to run them on.

    `settings` hold the scripts that run here; `env` is our own environment.
    """
    from .pod.pod_exec import DEFAULT_BYTES
    from .script.host_script import host_script_tool
    from .script.local_script import local_script_tool
    from .script.pod_script import pod_script_tool

    shown = max_bytes or DEFAULT_BYTES
    made = [local_script_tool(clusters, source, settings, env, max_bytes=shown)]
    if clusters.names:
        made.append(pod_script_tool(clusters, source, max_bytes=shown))
    if any(cluster.debug_jobs for cluster in clusters):
        from .node.debug_pods import DebugPods
        from .script.node_script import node_script_tool

        made.append(node_script_tool(clusters, DebugPods(), source, max_bytes=shown))
    if hosts.names:
        made.append(host_script_tool(hosts, source, max_bytes=shown))
    return tuple(made)
