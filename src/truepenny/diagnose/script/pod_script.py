"""The `pod_script` tool: one script of a skill in one container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truepenny.diagnose.cluster import Clusters, Unbound
from truepenny.diagnose.pod.pod_exec import (
    DEFAULT_BYTES,
    ERROR_BYTES,
    MARGIN_SECONDS,
    exec_words,
    meaning_of,
    place_properties,
    result_of,
    source_of,
    wrong_name,
)
from truepenny.diagnose.reader import Reader
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits, Command
from truepenny.execute.process import run as run_process
from truepenny.text.bound import Limits
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Result

from .request import DEFAULT_SECONDS, MAX_SECONDS, MEANING, properties, read_request, with_status
from .source import ScriptSource

_DESCRIPTION = f"""\
Run a script of a skill in a container of a running pod, by the interpreter of its image. \
{MEANING} A failure with `leg transport` says that the container was not reached."""


def pod_script_tool(
    clusters: Clusters, source: ScriptSource, *, max_bytes: int = DEFAULT_BYTES
) -> Tool:
    """Return the tool. `Facts.detail` has what `pod_exec` tells, `script` and `status` (None where
    the script's last line says none)."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        if wrong := wrong_name(arguments, "pod", "namespace", "container"):
            return wrong
        request = read_request(arguments, source, "pod")
        if isinstance(request, Result):
            return request
        cluster = clusters.get(arguments.get("cluster"))
        if isinstance(cluster, Unbound):
            return cluster.result()
        if stopped := await Reader(cluster, context.redactor, context.clock).unguarded("exec"):
            return stopped
        execution = await run_process(
            Command(
                argv=(
                    cluster.kubectl.find(),
                    *exec_words(cluster, arguments, request.argv, reads=True),
                ),
                env=cluster.environment(),
                stdin=request.stdin,
                timeout=arguments.get("timeout_seconds", DEFAULT_SECONDS),
                limits=CaptureLimits(
                    Limits(bytes=max_bytes), Limits(bytes=ERROR_BYTES), STOP_AFTER_BYTES
                ),
                redactor=context.redactor,
            ),
            clock=context.clock,
        )
        meaning = meaning_of(execution, request.script.interpreter)
        place = source_of(cluster, arguments)
        return with_status(result_of(execution, meaning, request.line, place), execution, request)

    return Tool(
        name="pod_script",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {**place_properties(clusters), **properties()},
            "required": ["namespace", "pod", "skill", "script"],
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        example={
            "namespace": "shop",
            "pod": "web-0",
            "skill": "gateway-diagnostics",
            "script": "show-gateway.sh",
        },
    )
