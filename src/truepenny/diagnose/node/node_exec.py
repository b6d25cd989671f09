"""The `node_exec` tool: one read-only line on one node, through a debug Job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truepenny.command.check import Admitted, check
from truepenny.diagnose.cluster import Cluster, Clusters, Unbound
from truepenny.diagnose.pod.pod_exec import (
    DEFAULT_BYTES,
    DEFAULT_SECONDS,
    ERROR_BYTES,
    FORMS,
    MAX_SECONDS,
    MIN_SECONDS,
    NAME_CHARS,
    UNREADABLE,
    place_properties,
    result_of,
    wrong_name,
)
from truepenny.diagnose.reader import Reader
from truepenny.diagnose.sanitize.choice import form_for
from truepenny.diagnose.sanitize.environment import EnvironmentStream
from truepenny.diagnose.sanitize.form import ENV
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits
from truepenny.execute.ending import Leg, Outcome
from truepenny.execute.execution import Execution
from truepenny.model.message import Text
from truepenny.text.bound import Limits
from truepenny.text.redact import Redactor
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.decision import ALLOW, Decision, deny
from truepenny.tool.result import NEVER_RAN, Facts, Result, invalid, refused

from .debug_job import DEADLINE_SECONDS, read_ready
from .debug_pods import STARTUP_SECONDS, DebugPod, DebugPodFailed, DebugPods
from .run import END_SECONDS, NodeRun, run_on_node

MARGIN_SECONDS = STARTUP_SECONDS + END_SECONDS + 60.0
"""The tool's outer limit leaves room to make the pod, to end a line, and to delete the Job."""

_DESCRIPTION = """\
Run one read-only line with bash on a node of a cluster. A privileged debug Job is made \
there for it and deleted behind it: allowed where the cluster's settings say `debug_jobs`. A \
failure with a `leg` says that the node was not reached, and proves nothing about it."""

OFF = "a privileged Job would be made on the node, and the settings do not allow it"


def node_exec_tool(clusters: Clusters, pods: DebugPods, *, max_bytes: int = DEFAULT_BYTES) -> Tool:
    """Return the tool; `max_bytes` bounds what is shown of standard output.

    `Facts.source` holds cluster, context and node. `Facts.detail` has `debug_job` (`name`,
    `namespace`, `fate`: deleted, kept or left), `remote_end` where something had to be ended, and
    where no pod came up `stage`, `cached` and `said`.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        line: str = arguments["command"]
        admitted = check(line, "node")
        if not isinstance(admitted, Admitted):
            return invalid("command", admitted.message, admitted.hint)
        form = form_for([command.argv for command in admitted.line.commands])
        if form not in FORMS:
            return refused("output_form", UNREADABLE, "env", form=form.name)
        redactor = context.redactor
        if form is ENV:
            redactor = redactor.reading(EnvironmentStream)
        seconds = arguments.get("timeout_seconds", DEFAULT_SECONDS)
        result, _ = await on_node(
            clusters, pods, arguments, line, context, redactor, seconds, max_bytes
        )
        return result

    return Tool(
        name="node_exec",
        description=_DESCRIPTION,
        parameters=_parameters(clusters),
        run=run,
        # The line only reads; what it takes to run it does not.
        action_class=ActionClass.EXECUTE,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        judge=judge,
        example={"node": "worker-1", "command": "df -h /"},
    )


def judge(arguments: Mapping[str, Any]) -> Decision:
    """Deny what is not read-only. No level of autonomy lifts this."""
    found = check(arguments["command"], "node")
    if isinstance(found, Admitted):
        return ALLOW
    return deny(
        found.rejected_by, found.message, rule="command.node", hint=found.hint,
        matched=found.matched,
    )  # fmt: skip


async def on_node(
    clusters: Clusters,
    pods: DebugPods,
    arguments: Mapping[str, Any],
    line: str,
    context: CallContext,
    redactor: Redactor,
    seconds: float,
    max_bytes: int,
    *,
    stdin: bytes | None = None,
    told: str = "",
) -> tuple[Result, Execution | None]:
    """Run a line that was admitted, on the node and cluster that `arguments` name; `told` is how
    it is told, if not as it is. Returns the execution too; None where the line did not begin."""
    if wrong := wrong_name(arguments, "node"):
        return wrong, None
    cluster = clusters.get(arguments.get("cluster"))
    if isinstance(cluster, Unbound):
        return cluster.result(), None
    node: str = arguments["node"]
    source = {"cluster": cluster.name, "context": cluster.context.name, "node": node}
    if stopped := await _stopped(cluster, node, source, context):
        return stopped, None
    context.progress(f"making a debug pod on {node}")
    try:
        async with pods.pinned(cluster, node, context.user) as pod:
            done = await run_on_node(
                pod,
                line,
                seconds=seconds,
                limits=CaptureLimits(
                    Limits(bytes=max_bytes), Limits(bytes=ERROR_BYTES), STOP_AFTER_BYTES
                ),
                redactor=redactor,
                clock=context.clock,
                stdin=stdin,
            )
            if done.meaning.leg is not None:
                await pods.drop(pod)
    except DebugPodFailed as failure:
        return _not_entered(failure, cluster, source, told or line, context.redactor), None
    return _result(done, pod, told or line, source), done.execution


async def _stopped(
    cluster: Cluster, node: str, source: dict[str, str], context: CallContext
) -> Result | None:
    """Return why no Job may or need be made, None where one may."""
    if not cluster.debug_jobs:
        remedy = f"Set clusters.{cluster.name}.debug_jobs = true in the settings, or read the node "
        remedy += f"with kubectl: kubectl describe node {node}"
        return refused("debug_jobs_off", OFF, remedy, setting=f"clusters.{cluster.name}.debug_jobs")
    reader = Reader(cluster, context.redactor, context.clock)
    if refusal := await reader.unguarded("exec"):
        return refusal
    reading = await reader.read(("get", "node", node, "-o", "json"), written=False)
    if reading.result.outcome is not Outcome.SUCCESS:
        reason = reading.result.facts.reason or "not_read"
        return _unreached(f"node_{reason}", reading.result.text, source)
    status = read_ready(reading.value)
    if status != "True":
        message = f"the node's condition Ready is {status or 'not told'}: nothing new starts there"
        return _unreached("node_not_ready", message, source)
    return None


def _unreached(reason: str, message: str, source: dict[str, str], **detail: Any) -> Result:
    facts = Facts(
        completeness=NEVER_RAN, leg=Leg.TRANSPORT, reason=reason, source=source, detail=detail
    )
    return Result(Outcome.CHANNEL_FAILED, (Text(message),), facts)


def _not_entered(
    failure: DebugPodFailed,
    cluster: Cluster,
    source: dict[str, str],
    line: str,
    redactor: Redactor,
) -> Result:
    detail: dict[str, Any] = {"stage": failure.stage, "cached": failure.cached}
    message = f"no debug pod runs on the node ({failure.stage}: {failure.reason})"
    notes: tuple[str, ...] = ()
    if failure.said:
        said = redactor.text(failure.said).text
        message, detail["said"] = f"{message}: {said}", said
    if failure.cached:
        notes += ("it failed a moment ago and was not tried again",)
    if failure.left:
        detail["debug_job"] = {
            "name": failure.left, "namespace": cluster.debug_namespace, "fate": "left",
        }  # fmt: skip
        notes += (_fate(failure.left, cluster, "left"),)
    return _unreached(failure.reason, message, source, **detail).with_facts(
        notes=notes, command=line
    )


def _result(done: NodeRun, pod: DebugPod, line: str, source: dict[str, str]) -> Result:
    ended, notes = done.ended, (_fate(pod.job, pod.cluster, pod.fate),)
    detail: dict[str, Any] = {
        "debug_job": {
            "name": pod.job, "namespace": pod.cluster.debug_namespace, "fate": pod.fate,
        }
    }  # fmt: skip
    if ended is not None:
        told = {"state": ended.state, "found": ended.found, "pids": list(ended.pids)}
        detail["remote_end"] = {**told, "why": ended.why}
        if ended.state == "gone":
            notes += (f"{ended.found} processes of it were ended on the node; none is left",)
        elif ended.state == "left":
            notes += ("not even a kill ended all of it on the node",)
        else:
            notes += (f"whether it still runs on the node is not known: {ended.why}",)
    result = result_of(done.execution, done.meaning, line, source, notes)
    return result.with_facts(detail={**result.facts.detail, **detail})


def _fate(job: str, cluster: Cluster, fate: str) -> str:
    made = f"a Job was made for this: {job} in namespace {cluster.debug_namespace}"
    return {
        "deleted": f"{made}; it is deleted",
        "kept": f"{made}; it is kept for a next question, and deleted when none comes",
    }.get(fate, f"{made}; it could not be deleted, and ends itself within {DEADLINE_SECONDS} s")


def _parameters(clusters: Clusters) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            **node_properties(clusters),
            "command": {"type": "string", "minLength": 1, "description": "The line for bash."},
            "timeout_seconds": {
                "type": "number",
                "minimum": MIN_SECONDS,
                "maximum": MAX_SECONDS,
                "description": f"For the line alone, {DEFAULT_SECONDS:g} unless given.",
            },
        },
        "required": ["node", "command"],
        "additionalProperties": False,
    }


def node_properties(clusters: Clusters) -> dict[str, Any]:
    """Return the arguments that name a node."""
    node = {"type": "string", "minLength": 1, "maxLength": NAME_CHARS}
    return {"cluster": place_properties(clusters)["cluster"], "node": node}
