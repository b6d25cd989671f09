"""The `node_script` tool: one script of a skill on one node, through a debug Job."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.node.debug_pods import DebugPods
from truepenny.diagnose.node.node_exec import MARGIN_SECONDS, node_properties, on_node
from truepenny.diagnose.pod.pod_exec import DEFAULT_BYTES
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Result

from .request import DEFAULT_SECONDS, MAX_SECONDS, MEANING, properties, read_request, with_status
from .source import ScriptSource

_DESCRIPTION = f"""\
Run a script of a skill on a node of a cluster. {MEANING} A privileged debug Job is made there for \
it and deleted behind it: allowed where the cluster's settings say `debug_jobs`."""


def node_script_tool(
    clusters: Clusters, pods: DebugPods, source: ScriptSource, *, max_bytes: int = DEFAULT_BYTES
) -> Tool:
    """Return the tool. `Facts.detail` has what `node_exec` tells, `script` and `status` (None where
    the script's last line says none)."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        request = read_request(arguments, source, "node")
        if isinstance(request, Result):
            return request
        result, execution = await on_node(
            clusters,
            pods,
            arguments,
            shlex.join(request.argv),
            context,
            context.redactor,
            arguments.get("timeout_seconds", DEFAULT_SECONDS),
            max_bytes,
            stdin=request.stdin,
            told=request.line,
        )
        return result if execution is None else with_status(result, execution, request)

    return Tool(
        name="node_script",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {**node_properties(clusters), **properties()},
            "required": ["node", "skill", "script"],
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        example={"node": "worker-1", "skill": "node-logs", "script": "get-node-logs.sh"},
    )
