"""The `cluster_list` tool: which clusters are bound, and on request whether they answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio

from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.model.message import Text
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Completeness, Facts, Result

from .cluster import NO_CLUSTER_REMEDY, Cluster, Clusters
from .reader import Reader

PROBE_SECONDS = 7.0
"""One probe from start to end (spec/diagnostics.md 2)."""

PROBES_AT_ONCE = 8
"""Enough that one hung cluster holds up none of the others, few enough for a small machine."""

_ANSWERS = ("forbidden", "unauthorized")
"""Reasons that only a server which was reached can give."""

_DESCRIPTION = """\
List the Kubernetes clusters that can be read: name, description, API server, whether it is \
production, context. `name` keeps those whose name contains it. `probe` also asks each one for its \
version and whether this credential can write, at most 7 seconds each."""


def cluster_list_tool(clusters: Clusters) -> Tool:
    """Return the tool. `Facts.detail.clusters` holds what the text holds.

    A cluster has `name`, `description`, `api_server` (host and port), `is_production`,
    `contexts`, `current_context` and, when it cannot be used, `problem`. A probe adds
    `probe_status` (`ok`, `failed` or `not_asked`), `reachable` (None: nobody knows),
    `probe_reason`, `probe_error` and `server_version`, and of one that answered `can_write`:
    `answer` (`yes`, `no`, `unknown`), the `namespace` it is about, `rules` or `why`.
    No credential is in any of them.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        part = str(arguments.get("name", "")).lower()
        chosen = [cluster for cluster in clusters if part in cluster.name.lower()]
        entries = [_entry(cluster) for cluster in chosen]
        if arguments.get("probe", False):
            await _probe_all(chosen, entries, context)
        return _result(entries, len(clusters.names), part)

    return Tool(
        name="cluster_list",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Part of a name."},
                "probe": {"type": "boolean", "description": "Ask each cluster itself."},
            },
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        example={"probe": True},
    )


def _result(entries: list[dict[str, Any]], bound: int, part: str) -> Result:
    detail = {"clusters": entries}
    if not entries:
        message = f"No bound cluster has {part!r} in its name." if bound else "No cluster is bound."
        reason = "nothing_found" if bound else "no_cluster"
        facts = Facts(reason=reason, hint="" if bound else NO_CLUSTER_REMEDY, detail=detail)
        return Result(Outcome.NO_MATCH, (Text(message),), facts)
    text = json.dumps(detail, ensure_ascii=False, indent=1)
    size = len(text.encode())
    unknown = sum(entry.get("probe_status") == "failed" for entry in entries)
    whole = Completeness(unit="clusters", shown=len(entries), total=len(entries))
    if unknown:
        whole = Completeness(
            "partial", f"{unknown} did not answer", "probes", len(entries) - unknown, len(entries)
        )
    facts = Facts(completeness=whole, bytes=ByteCounts(size, size), detail=detail)
    return Result(Outcome.SUCCESS, (Text(text),), facts)


def _entry(cluster: Cluster) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": cluster.name,
        "description": cluster.description,
        "api_server": cluster.context.server,
        "is_production": cluster.production,
        "contexts": [cluster.context.name] if cluster.context.name else [],
        "current_context": cluster.current,
    }
    if cluster.problem:
        entry["problem"] = cluster.problem
    return entry


async def _probe_all(
    chosen: list[Cluster], entries: list[dict[str, Any]], context: CallContext
) -> None:
    limiter = anyio.CapacityLimiter(PROBES_AT_ONCE)

    async def probe(cluster: Cluster, entry: dict[str, Any]) -> None:
        async with limiter:
            entry.update(await _probe(cluster, context))

    async with anyio.create_task_group() as tasks:
        for cluster, entry in zip(chosen, entries, strict=True):
            tasks.start_soon(probe, cluster, entry)


async def _probe(cluster: Cluster, context: CallContext) -> dict[str, Any]:
    if cluster.problem:
        return {"probe_status": "not_asked", "probe_reason": "unavailable", "reachable": None}
    reader = Reader(cluster, context.redactor, context.clock)
    reading = await reader.read(["version", "-o", "json"], timeout=PROBE_SECONDS)
    result = reading.result
    version = _server_version(reading.value)
    if version:
        can_write = await reader.can_write(PROBE_SECONDS)
        return {
            "probe_status": "ok",
            "reachable": True,
            "server_version": version,
            "can_write": can_write.detail,
        }
    if result.outcome is Outcome.SUCCESS:
        return {"probe_status": "failed", "probe_reason": "no_version", "reachable": None}
    # Only a broken channel shows that it is not reachable. A missing kubectl shows nothing, nor
    # does one that we stopped for time: whether it waited for the server nobody saw.
    reachable: bool | None = None
    if result.facts.reason in _ANSWERS:
        reachable = True
    elif result.outcome is Outcome.CHANNEL_FAILED:
        reachable = False
    return {
        "probe_status": "failed",
        "probe_reason": result.facts.reason or str(result.facts.cause or result.outcome),
        "probe_error": result.text.strip()[-300:],
        "reachable": reachable,
    }


def _server_version(document: Any) -> str:
    """Return what `version -o json` says about the server; "" when it says nothing."""
    try:
        return str(document["serverVersion"]["gitVersion"])
    except (KeyError, TypeError):
        return ""
