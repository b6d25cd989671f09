"""The `pod_exec` tool: one read-only command in one container, without a shell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from truepenny.command.check import Admitted, check
from truepenny.diagnose.answer import MARKERS, refusal_facts
from truepenny.diagnose.cluster import Cluster, Clusters, Unbound
from truepenny.diagnose.reader import Reader
from truepenny.diagnose.sanitize.choice import form_for
from truepenny.diagnose.sanitize.environment import EnvironmentStream
from truepenny.diagnose.sanitize.form import ENV, LOGS
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits, Command
from truepenny.execute.ending import Leg, Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification, Marker, classify
from truepenny.execute.process import run as run_process
from truepenny.model.message import Text
from truepenny.text.bound import Limits
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.decision import ALLOW, Decision, deny
from truepenny.tool.process_facts import View, not_started, process_facts
from truepenny.tool.result import Completeness, Result, invalid, refused

from .container import running_container

MIN_SECONDS, DEFAULT_SECONDS, MAX_SECONDS = 1.0, 30.0, 120.0
"""For reaching the container and running together (diagnostics spec 2)."""

MARGIN_SECONDS = 10.0
"""The tool's outer limit leaves room to end kubectl and to tell of it."""

DEFAULT_BYTES = 32 * 1024
"""What is shown of standard output where a call does not say."""

ERROR_BYTES = 4 * 1024
"""Kept of standard error, on top."""

NAME_CHARS = 253
"""The longest name of an object (RFC 1123)."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")

_OWN_END = re.compile(r"command terminated with exit code (\d+)")
"""kubectl's last line where the command ran and ended by itself with another code than 0."""

_NO_PROGRAM = Marker(
    re.compile(r".*exec failed.*(?:executable file not found|no such file or directory)", re.I),
    Outcome.MISSING_DEPENDENCY,
    "not_in_container",
)

_FINDS_NOTHING = frozenset({"grep", "egrep", "fgrep", "zgrep", "pgrep", "pidof", "test", "ps"})
"""Programs whose exit code 1 says that nothing was found (diagnostics spec 5)."""

_NOT_REACHED = "not_reached"
"""The reason where neither the command's own end nor a known refusal was told."""

_STREAM_CUT = Marker(
    re.compile(r"error: .*(?:reading from error stream|next reader: |websocket: close)", re.I),
    Outcome.CHANNEL_FAILED,
    "stream_cut",
    Leg.TRANSPORT,
    only_without_output=False,
)

FORMS = (LOGS, ENV)
"""Both leave kubectl's own lines on standard error as they are, by which the end is judged."""

UNREADABLE = "its output would be masked as a whole, and with it how the command ended"

_DESCRIPTION = """\
Run one read-only command in a container of a running pod. There is no shell: no pipes, no \
expansions. The programs are those of the container's image. A failure with `leg transport` says \
that the container was not reached, and proves nothing about it."""


def pod_exec_tool(clusters: Clusters, *, max_bytes: int = DEFAULT_BYTES) -> Tool:
    """Return the tool; `max_bytes` bounds what is shown of standard output.

    `Facts.source` holds cluster, context, namespace, pod and container: the one that is named, or
    else the one that kubectl would choose. `Facts.detail` may hold `refusal` (see `refusal_facts`),
    and `phase` and `state` of a container that does not run.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        if wrong := wrong_name(arguments, "pod", "namespace", "container"):
            return wrong
        # Judged again where it is read: the words that run are the ones that were admitted.
        admitted = check(arguments["command"], "pod")
        if not isinstance(admitted, Admitted):
            return invalid("command", admitted.message, admitted.hint)
        cluster = clusters.get(arguments.get("cluster"))
        if isinstance(cluster, Unbound):
            return cluster.result()
        argv = admitted.line.commands[0].argv
        form = form_for([argv])
        if form not in FORMS:
            return refused("output_form", UNREADABLE, "env", form=form.name)
        reader = Reader(cluster, context.redactor, context.clock)
        if stopped := await reader.unguarded("exec"):
            return stopped
        seconds = arguments.get("timeout_seconds", DEFAULT_SECONDS)
        begun = context.clock.monotonic()
        container = await running_container(
            reader,
            arguments["namespace"],
            arguments["pod"],
            arguments.get("container"),
            seconds=seconds,
        )
        if isinstance(container, Result):
            return container.with_facts(command=arguments["command"])
        place = {**arguments, "container": container}
        left = seconds - (context.clock.monotonic() - begun)
        execution = await run_process(
            Command(
                argv=(cluster.kubectl.find(), *exec_words(cluster, place, argv)),
                env=cluster.environment(),
                timeout=max(left, MIN_SECONDS),
                limits=CaptureLimits(
                    Limits(bytes=max_bytes), Limits(bytes=ERROR_BYTES), STOP_AFTER_BYTES
                ),
                redactor=context.redactor.reading(EnvironmentStream)
                if form is ENV
                else context.redactor,
            ),
            clock=context.clock,
        )
        meaning = meaning_of(execution, admitted.programs[0])
        return result_of(execution, meaning, arguments["command"], source_of(cluster, place))

    return Tool(
        name="pod_exec",
        description=_DESCRIPTION,
        parameters=_parameters(clusters),
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        judge=judge,
        example={"namespace": "shop", "pod": "web-0", "command": "df -h /"},
    )


def wrong_name(arguments: Mapping[str, Any], *fields: str) -> Result | None:
    """Return the result of a call where one of the fields is no name of an object, else None."""
    for field in fields:
        name = arguments.get(field)
        if name is not None and not (len(name) <= NAME_CHARS and _NAME.fullmatch(name)):
            return invalid(field, f"{field} is no name of an object: a-z, 0-9, '-' and '.'")
    return None


def judge(arguments: Mapping[str, Any]) -> Decision:
    """Deny what is not read-only. No level of autonomy lifts this: the tool's class rests on it."""
    found = check(arguments["command"], "pod")
    if isinstance(found, Admitted):
        return ALLOW
    return deny(
        found.rejected_by, found.message, rule="command.pod", hint=found.hint, matched=found.matched
    )


def exec_words(
    cluster: Cluster, arguments: Mapping[str, Any], argv: Sequence[str], *, reads: bool = False
) -> tuple[str, ...]:
    """Return the words after kubectl that run `argv` in a container; `reads`: it gets our stdin."""
    container = arguments.get("container")
    return (
        *cluster.kubectl.arguments(cluster.context.name),
        "exec",
        *(("-i",) if reads else ()),
        "-n",
        arguments["namespace"],
        arguments["pod"],
        *(() if container is None else ("-c", container)),
        "--",
        *argv,
    )


def meaning_of(execution: Execution, program: str) -> Classification:
    """Return what it came to: the command's own end, or the way to it.

    The container writes to the same standard error as kubectl, so only kubectl's last line says
    that the command ran.
    """
    return meaning_behind(execution, (1,) if program in _FINDS_NOTHING else ())


def meaning_behind(
    execution: Execution, codes: Sequence[int] = (), markers: Sequence[Marker] = ()
) -> Classification:
    """Return the same of any command behind `kubectl exec`: `codes` say that nothing was found,
    `markers` what the command's own diagnostics mean."""
    code = execution.exit.effective
    if execution.failure is not None or execution.cause is not None or code in (0, None):
        return classify(execution)
    lines = execution.stderr.text.strip().splitlines()
    end = _OWN_END.fullmatch(lines[-1].strip()) if lines else None
    if end is not None and int(end[1]) == code:
        return classify(execution, (_NO_PROGRAM, *markers), no_match_codes=codes)
    meaning = classify(execution, (_NO_PROGRAM, _STREAM_CUT, *MARKERS))
    if meaning.outcome is Outcome.NO_MATCH or not meaning.reason:
        # Nothing was searched: whatever was asked for could not be reached.
        return Classification(
            Outcome.CHANNEL_FAILED, meaning.reason or _NOT_REACHED, Leg.TRANSPORT, meaning.line
        )
    return meaning


def source_of(cluster: Cluster, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return where an answer of a container comes from."""
    source = {
        "cluster": cluster.name,
        "context": cluster.context.name,
        "namespace": arguments["namespace"],
        "pod": arguments["pod"],
    }
    if "container" in arguments:
        source["container"] = arguments["container"]
    return source


def result_of(
    execution: Execution,
    meaning: Classification,
    line: str,
    source: Mapping[str, str],
    notes: tuple[str, ...] | None = None,
) -> Result:
    """Return the result of what ran through `kubectl exec`; `line` is how it is told, `notes` what
    is known of what it left (None: nothing)."""
    if execution.failure is not None:
        return not_started(execution, meaning, line)
    view = view_of(execution, "ask for less, with the command's own options")
    if notes is None:
        notes = _notes(execution, meaning)
    told, detail = refusal_facts(meaning.reason, _way(meaning))
    facts = process_facts(
        execution, meaning, view, command=line, notes=(*told, *notes), detail=detail
    )
    facts = replace(facts, source=source, containment={})
    if meaning.leg is Leg.TRANSPORT:
        unknown = Completeness("unknown", meaning.reason.replace("_", " "))
        facts = replace(facts, completeness=unknown)
    return Result(meaning.outcome, (Text(both_streams(execution)),), facts)


def _way(meaning: Classification) -> Leg | None:
    # Where nobody said what is wrong, the API server may well have answered.
    return None if meaning.reason == _NOT_REACHED else meaning.leg


def _notes(execution: Execution, meaning: Classification) -> tuple[str, ...]:
    if execution.cause is not None or meaning.reason == _STREAM_CUT.reason:
        return (_MAY_RUN,)
    silent = not execution.stdout.bytes.observed and not execution.stderr.bytes.observed
    return (_SILENT,) if silent and execution.exit.effective == 0 else ()


def view_of(execution: Execution, following: str) -> View:
    """Return how much of both streams is shown; `following` is how to get the rest."""
    out, err = execution.stdout, execution.stderr
    return View(
        out.bytes.kept + err.bytes.kept,
        sum(one.bytes.kept + one.bytes.discarded for one in (out, err)),
        out.kept_lines + err.kept_lines,
        out.lines + err.lines,
        out.cut or err.cut,
        following,
    )


def both_streams(execution: Execution) -> str:
    """Return standard output, and standard error under a line that says so."""
    out, err = execution.stdout.text, execution.stderr.text
    joint = "\n" if out and not out.endswith("\n") else ""
    return f"{out}{joint}STDERR:\n{err}" if err else out


_MAY_RUN = "whether the command still runs in the container is not known: only kubectl ended"

_SILENT = "exit 0 is kubectl's word, also where a connection closes early; no output bears it out"
"""kubectl ends with 0 where the socket is closed in order and no Status came before."""


def place_properties(clusters: Clusters) -> dict[str, Any]:
    """Return the arguments that say in which container something runs."""
    known = ", ".join(clusters.names) or "none"
    rule = "may be left out" if len(clusters.names) == 1 else "required"
    name = {"type": "string", "minLength": 1, "maxLength": NAME_CHARS}
    return {
        "cluster": {"type": "string", "description": f"Bound: {known}; {rule}."},
        "namespace": name,
        "pod": name,
        "container": {**name, "description": "The pod's default one unless given."},
    }


def _parameters(clusters: Clusters) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            **place_properties(clusters),
            "command": {"type": "string", "minLength": 1, "description": "Program and words."},
            "timeout_seconds": {
                "type": "number",
                "minimum": MIN_SECONDS,
                "maximum": MAX_SECONDS,
                "description": f"{DEFAULT_SECONDS:g} unless given.",
            },
        },
        "required": ["namespace", "pod", "command"],
        "additionalProperties": False,
    }
