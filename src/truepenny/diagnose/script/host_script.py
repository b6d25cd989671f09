"""The `host_script` tool: one script of a skill on one host, over SSH."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping
from typing import Any

from truepenny.diagnose.host.failure import DialFailed
from truepenny.diagnose.host.host import Hosts, UnboundHost
from truepenny.diagnose.host.host_exec import (
    DEFAULT_BYTES,
    ERROR_BYTES,
    MARGIN_SECONDS,
    result_of,
    source_of,
)
from truepenny.diagnose.host.run import STOP_AFTER_BYTES, run_on_host
from truepenny.execute.command import CaptureLimits
from truepenny.text.bound import Limits
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Result

from .request import DEFAULT_SECONDS, MAX_SECONDS, MEANING, properties, read_request, with_status
from .source import ScriptSource

_DESCRIPTION = f"""\
Run a script of a skill on a bound host, over SSH (`host_list` names the hosts). {MEANING} What \
still runs when the time is over is ended on the host."""


def host_script_tool(hosts: Hosts, source: ScriptSource, *, max_bytes: int = DEFAULT_BYTES) -> Tool:
    """Return the tool. `Facts.detail` has what `host_exec` tells, `script` and `status` (None
    where the script's last line says none)."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        request = read_request(arguments, source, "host")
        if isinstance(request, Result):
            return request
        host = hosts.get(arguments["host"])
        if isinstance(host, UnboundHost):
            return host.result()
        place = source_of(hosts, host)
        context.progress(f"connecting to {host.name}")
        try:
            done = await run_on_host(
                hosts,
                host,
                shlex.join(request.argv),
                user=context.user,
                seconds=arguments.get("timeout_seconds", DEFAULT_SECONDS),
                limits=CaptureLimits(
                    Limits(bytes=max_bytes), Limits(bytes=ERROR_BYTES), STOP_AFTER_BYTES
                ),
                redactor=context.redactor,
                offload=context.scratch / f"host-{secrets.token_hex(6)}.txt",
                clock=context.clock,
                stdin=request.stdin,
            )
        except DialFailed as failure:
            return failure.result(place, command=request.line)
        return with_status(result_of(done, request.line, place), done.execution, request)

    return Tool(
        name="host_script",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "host": {"type": "string", "minLength": 1},
                **properties(),
            },
            "required": ["host", "skill", "script"],
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        example={"host": "web-1", "skill": "node-logs", "script": "get-node-logs.sh"},
    )
