"""The `bash` tool of a diagnosis: one line of programs that only read, kubectl among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from truepenny.command.refusal import Refusal
from truepenny.config.settings import SandboxSettings
from truepenny.diagnose.answer import refusal_facts
from truepenny.diagnose.cluster import Cluster, Clusters, Unbound
from truepenny.diagnose.reader import DEFAULT_BYTES, DIAGNOSTIC_BYTES, Reader, Reading
from truepenny.diagnose.reader_document import document_bytes
from truepenny.diagnose.reader_note import log_completeness, scope
from truepenny.diagnose.sanitize.describe import DescribeStream
from truepenny.diagnose.sanitize.json_path import MAX_PATH
from truepenny.diagnose.script.kubeconfig import kubeconfig_of
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits
from truepenny.execute.execution import Execution
from truepenny.execute.shell import line_command, run_line
from truepenny.model.message import Text
from truepenny.text.bound import Limits
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.decision import ALLOW, Decision, deny
from truepenny.tool.process_facts import View, not_contained, not_started, process_facts
from truepenny.tool.result import Result, invalid

from .line import ReadLine, read_line
from .meaning import meaning_of
from .room import room

MIN_SECONDS, DEFAULT_SECONDS, MAX_SECONDS = 1.0, 60.0, 300.0
"""For the whole line (diagnostics spec 2)."""

MARGIN_SECONDS = 20.0
"""The tool's outer limit leaves room to make the sandbox, to end the line and to tell of it."""

_DESCRIPTION = """\
Run one line of programs that only read, with bash in a sandbox: kubectl, and text filters behind \
a pipe (grep, head, sort, jq, ...). No substitutions, no redirections but to /dev/null. kubectl \
works only with `cluster`. JSON and YAML of kubectl go to filters masked. Files, folders and \
variables are gone after each call. A refusal carries a line that works in its hint."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call, judged. `cluster` is None where none was named."""

    read: ReadLine
    cluster: Cluster | None
    seconds: float
    context: CallContext
    json_path: str


def bash_tool(
    clusters: Clusters,
    sandbox: SandboxSettings,
    env: Mapping[str, str],
    *,
    max_bytes: int = DEFAULT_BYTES,
) -> Tool:
    """Return the tool. `env` is our own environment; `max_bytes` bounds what is shown of standard
    output.

    `Facts.source` is that of the cluster where kubectl ran. `Facts.detail` has what
    `process_facts` tells, and `kubeconfig`: `none`, `outside` (kubectl ran outside of the sandbox)
    or `private` (a copy of this one context was in it). A line that is one kubectl command is read
    as the kubectl tool reads it.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        read = read_line(arguments["command"])
        if isinstance(read, Refusal):
            return invalid(read.rejected_by, read.message, read.hint)
        cluster: Cluster | Unbound | None = None
        if "cluster" in arguments:
            cluster = clusters.get(arguments["cluster"])
        elif read.verbs:
            cluster = _unnamed(clusters)
        if isinstance(cluster, Unbound):
            return cluster.result()
        path = arguments.get("json_path", "")
        if path and read.alone is None:
            return invalid(
                "json_path",
                "json_path goes with one kubectl command alone",
                "give the line to jq where it has other commands",
            )
        seconds = arguments.get("timeout_seconds", DEFAULT_SECONDS)
        call = _Call(read, cluster, seconds, context, path)
        try:
            return await _run(call, sandbox, env, max_bytes)
        except (ConfigurationError, CouldNotRun) as error:
            return not_contained(error, read.text)

    return Tool(
        name="bash",
        description=_DESCRIPTION,
        parameters=_parameters(clusters),
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        judge=judge,
        example={"command": "kubectl get pods -A | grep -v Running", "cluster": "prod"},
    )


def judge(arguments: Mapping[str, Any]) -> Decision:
    """Deny what is not read-only. No level of autonomy lifts this: the tool's class rests on it."""
    found = read_line(arguments["command"])
    if isinstance(found, ReadLine):
        return ALLOW
    return deny(
        found.rejected_by,
        found.message,
        rule="command.local",
        hint=found.hint,
        matched=found.matched,
    )


def _unnamed(clusters: Clusters) -> Unbound:
    known = clusters.names
    if not known:
        return Unbound("no_cluster", "no cluster is bound: kubectl has nothing to ask here")
    message = f"kubectl needs `cluster` here, one of: {', '.join(known)}"
    return Unbound("cluster_not_named", message, known, f"cluster: {known[0]}")


async def _run(
    call: _Call, sandbox: SandboxSettings, env: Mapping[str, str], max_bytes: int
) -> Result:
    read, cluster, clock = call.read, call.cluster, call.context.clock
    if cluster is None or not read.verbs:
        return await _line(call, sandbox, env, max_bytes, None)
    reader = Reader(cluster, call.context.redactor, clock)
    if read.alone is not None:
        reading = await reader.read(
            read.alone, timeout=call.seconds, max_bytes=max_bytes, json_path=call.json_path
        )
        return _outside(reading.result)
    if read.document is not None:
        reading = await reader.read(read.document, timeout=call.seconds, written=False)
        if reading.value is None:
            note = f"nothing behind it ran: {read.behind}"
            result = _outside(reading.result)
            return result.with_facts(notes=(*result.facts.notes, note))
        return await _behind(call, sandbox, env, max_bytes, reading)
    for verb in read.verbs:
        if (stopped := await reader.unguarded(verb)) is not None:
            return stopped
    kubeconfig = await kubeconfig_of(cluster)
    return await _line(call, sandbox, env, max_bytes, kubeconfig)


def _outside(result: Result) -> Result:
    return result.with_facts(detail={**result.facts.detail, "kubeconfig": "outside"})


async def _line(
    call: _Call,
    sandbox: SandboxSettings,
    env: Mapping[str, str],
    max_bytes: int,
    kubeconfig: str | None,
) -> Result:
    read = call.read
    cluster = None if kubeconfig is None else call.cluster
    execution = await _execute(call, read.text, sandbox, env, max_bytes, kubeconfig, None)
    meaning = meaning_of(execution, read.text, read.verbs)
    if execution.failure is not None:
        return not_started(execution, meaning, read.text)
    how = "none" if cluster is None else "private"
    source: dict[str, str] = {} if cluster is None else dict(cluster.source)
    if cluster is not None:
        namespaces = {scope(command, cluster) for command in read.reads} - {""}
        if len(namespaces) == 1:
            source["namespace"] = namespaces.pop()
    notes, detail = refusal_facts(meaning.reason, meaning.leg)
    facts = process_facts(
        execution,
        meaning,
        _view(execution),
        command=read.text,
        notes=notes,
        detail={**detail, "kubeconfig": how},
    )
    if read.lone and read.verbs == ("logs",) and facts.completeness.state == "complete":
        whole = log_completeness(read.reads[0], execution.stdout)
        facts = replace(facts, completeness=whole)
    return Result(meaning.outcome, (Text(_text(execution)),), replace(facts, source=source))


async def _behind(
    call: _Call,
    sandbox: SandboxSettings,
    env: Mapping[str, str],
    max_bytes: int,
    reading: Reading,
) -> Result:
    """Hand a masked document to the filters: kubectl and its credential stay outside."""
    read, first = call.read, reading.result
    command = reading.command
    as_yaml = command is not None and command.output == "yaml"
    data = await document_bytes(reading.value, as_yaml=as_yaml)
    execution = await _execute(call, read.behind, sandbox, env, max_bytes, None, data)
    meaning = meaning_of(execution, read.behind, ())
    if execution.failure is not None:
        return not_started(execution, meaning, read.text)
    ended = execution.exit
    if ended.observed is not None:
        # kubectl was the first stage, and a document came of it alone when it succeeded.
        stages = (0, *(ended.stages or (ended.observed,)))
        execution = replace(execution, exit=replace(ended, stages=stages))
    facts = process_facts(
        execution,
        meaning,
        _view(execution),
        command=read.text,
        notes=(f"the document went masked to: {read.behind}", *first.facts.notes),
        detail={"kubeconfig": "outside", "document_bytes": len(data)},
    )
    found = {
        rule: facts.redactions.get(rule, 0) + first.facts.redactions.get(rule, 0)
        for rule in {*facts.redactions, *first.facts.redactions}
    }
    facts = replace(facts, source=first.facts.source, redactions=found)
    return Result(meaning.outcome, (Text(_text(execution)),), facts)


async def _execute(
    call: _Call,
    line: str,
    sandbox: SandboxSettings,
    env: Mapping[str, str],
    max_bytes: int,
    kubeconfig: str | None,
    stdin: bytes | None,
) -> Execution:
    context = call.context
    described = call.read.described
    redactor = context.redactor.reading(DescribeStream) if described else context.redactor
    async with room(sandbox, env, call.cluster, kubeconfig) as place:
        command = line_command(
            line,
            env=place.env,
            cwd=place.folder,
            stdin=stdin,
            timeout=call.seconds,
            limits=CaptureLimits(
                Limits(bytes=max_bytes), Limits(bytes=DIAGNOSTIC_BYTES), STOP_AFTER_BYTES
            ),
            redactor=redactor,
            sandbox=place.sandbox,
        )
        return await run_line(command, clock=context.clock)


def _view(execution: Execution) -> View:
    out, err = execution.stdout, execution.stderr
    return View(
        out.bytes.kept + err.bytes.kept,
        sum(one.bytes.kept + one.bytes.discarded for one in (out, err)),
        out.kept_lines + err.kept_lines,
        out.lines + err.lines,
        out.cut or err.cut,
        "ask for less: a namespace, a selector, grep or head",
    )


def _text(execution: Execution) -> str:
    out, err = execution.stdout.text, execution.stderr.text
    joint = "\n" if out and not out.endswith("\n") else ""
    return f"{out}{joint}STDERR:\n{err}" if err else out


def _parameters(clusters: Clusters) -> dict[str, Any]:
    known = ", ".join(clusters.names) or "none"
    return {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "The line for bash."},
            "cluster": {
                "type": "string",
                "description": f"The cluster that kubectl asks. Bound: {known}.",
            },
            "json_path": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_PATH,
                "description": "With one kubectl command alone: a part of its -o json, such as "
                ".items[].metadata.name.",
            },
            "timeout_seconds": {
                "type": "number",
                "minimum": MIN_SECONDS,
                "maximum": MAX_SECONDS,
                "description": f"{DEFAULT_SECONDS:g} unless given.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    }
