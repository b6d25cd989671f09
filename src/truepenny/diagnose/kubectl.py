"""The `kubectl` tool: one read command against one bound cluster, without a shell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truepenny.command.kubectl import Refusal, read
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.decision import ALLOW, Decision, deny
from truepenny.tool.result import Result

from .cluster import Clusters, Unbound
from .reader import DEFAULT_BYTES, DEFAULT_SECONDS, Reader
from .sanitize.json_path import MAX_PATH

MIN_BYTES = 1024
MAX_BYTES = 1024 * 1024
"""More than this does not fit beside anything else in a model's window."""

MAX_SECONDS = 110
OUTER_SECONDS = 120.0
"""The tool's outer limit leaves room to end kubectl and to tell of it."""

_DESCRIPTION = """\
Read a Kubernetes cluster with kubectl. Only reading works: get, describe, logs, top pod|node, \
events, explain, api-resources, api-versions, version, cluster-info, auth can-i|whoami, rollout \
history|status. `args` are the words after kubectl, one per element; no shell, no pipes. Output \
formats: default table, -o wide, -o name, -o json, -o yaml. Values of Secrets are never shown. \
Nothing may run for ever: no -w, no -f. Logs without a bound get --tail=200. A refusal carries a \
command that works in its hint."""

_RULE = "kubectl_grammar"


def kubectl_tool(clusters: Clusters, *, default_bytes: int = DEFAULT_BYTES) -> Tool:
    """Return the tool over the given clusters; `default_bytes` is shown where a call asks none.

    `Facts.source` holds cluster, context, server, user and namespace of an answer. `Facts.detail`
    may hold `defaults` (flags that were added), `allowed` (for `auth can-i`), `bad_bytes`,
    `controls` (control characters, or strings of a document, that were made harmless),
    `diagnostics` (what kubectl said beside a document), `json_path`, `leftovers` and `refusal`
    (`rbac`, `absence` or `transport`); after a refusal of ours `rejected_by`, `matched` and
    `alternative` (an argument list).
    `Facts.command` runs in a shell whose current context is `source.context`.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        cluster = clusters.get(arguments.get("cluster"))
        if isinstance(cluster, Unbound):
            return cluster.result()
        reader = Reader(cluster, context.redactor, context.clock)
        reading = await reader.read(
            arguments["args"],
            timeout=arguments.get("timeout_seconds", DEFAULT_SECONDS),
            max_bytes=arguments.get("max_bytes", default_bytes),
            json_path=arguments.get("json_path", ""),
        )
        return reading.result

    return Tool(
        name="kubectl",
        description=_DESCRIPTION,
        parameters=_parameters(clusters, default_bytes),
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=OUTER_SECONDS,
        judge=judge,
        example={"args": ["get", "pods", "-n", "default"]},
    )


def judge(arguments: Mapping[str, Any]) -> Decision:
    """Deny what the grammar forbids; what makes no command at all is left to the call itself."""
    command = read(arguments["args"])
    if isinstance(command, Refusal) and not command.unusable:
        return deny(
            command.rejected_by,
            command.message,
            rule=_RULE,
            hint=command.hint,
            matched=command.matched,
        )
    return ALLOW


def _parameters(clusters: Clusters, default_bytes: int) -> dict[str, Any]:
    known = ", ".join(clusters.names) or "none"
    rule = "may be left out" if len(clusters.names) == 1 else "required"
    return {
        "type": "object",
        "properties": {
            "cluster": {"type": "string", "description": f"Bound: {known}; {rule}."},
            "args": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": 'For example ["get", "pods", "-n", "shop", "-o", "wide"].',
            },
            "json_path": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_PATH,
                "description": "Takes a part out of -o json, one result a line, from answers of "
                "any size: .items[].metadata.name, .spec.containers[0].image, "
                '.metadata.labels["a.b/c"]. No filters.',
            },
            "max_bytes": {
                "type": "integer",
                "minimum": MIN_BYTES,
                "maximum": MAX_BYTES,
                "description": f"Limit of the answer, {default_bytes} unless given.",
            },
            "timeout_seconds": {
                "type": "number",
                "minimum": 1,
                "maximum": MAX_SECONDS,
                "description": f"{DEFAULT_SECONDS:g} unless given.",
            },
        },
        "required": ["args"],
        "additionalProperties": False,
    }
