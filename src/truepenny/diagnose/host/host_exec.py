"""The `host_exec` tool: one shell line on one host, over SSH."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truepenny.execute.command import CaptureLimits
from truepenny.execute.ending import Leg
from truepenny.model.message import Text
from truepenny.text.bound import Limits
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.decision import ALLOW, Decision, deny
from truepenny.tool.process_facts import View, process_facts
from truepenny.tool.result import NEVER_RAN, Completeness, Result, invalid

from .failure import DialFailed
from .failure_memo import FailureMemo
from .host import Host, Hosts, UnboundHost
from .run import END_SECONDS, NO_BASH_THERE, STOP_AFTER_BYTES, HostRun, run_on_host

MIN_SECONDS, DEFAULT_SECONDS, MAX_SECONDS = 1.0, 30.0, 120.0
"""For dialling and running together (diagnostics spec 2)."""

MARGIN_SECONDS = END_SECONDS + 10.0
"""The tool's outer limit leaves room to end a line on its host and to tell of it."""

DEFAULT_BYTES = 32 * 1024
"""What is shown of standard output where a call does not say."""

ERROR_BYTES = 4 * 1024
"""Kept of standard error, on top."""

LINE_BYTES = 32 * 1024
"""More than any line that a person would check; hosts take at least this in one argument."""

_DESCRIPTION = """\
Run one read-only line with bash on a bound host, over SSH (`host_list` names the hosts). Each \
call is a fresh shell without standard input; `pipefail` is on. The result says exit code, stages \
of the last pipeline and what was left out; what still runs when the time is over, or behind the \
end of the line, is ended on the host. A failure to reach the host says at which stage (jump_hop, \
authentication, network, host_key) and proves nothing about it."""


def host_exec_tool(
    hosts: Hosts, *, max_bytes: int = DEFAULT_BYTES, max_seconds: float = MAX_SECONDS
) -> Tool:
    """Return the tool; `max_bytes` bounds what is shown of standard output.

    `Facts.source` holds host, address, user and, where there is one, the way. `Facts.detail` has
    what `process_facts` tells, and: `seconds_to_connect`, `host_key`, `first_use` (hosts whose key
    was not known before), `signal_name`, and `remote_end` (`state`, `found`, `pids`, `why`) where
    something had to be ended; of a host that was not reached what `DialFailed.result` tells.
    """
    memo = FailureMemo()
    longest = max(max_seconds, MIN_SECONDS)
    usual = min(DEFAULT_SECONDS, longest)

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        line: str = arguments["command"]
        if not line.strip():
            return invalid("empty", "command is empty: there is nothing to run")
        if wrong := _unusable(line):
            return invalid("command", f"command {wrong}")
        host = hosts.get(arguments["host"])
        if isinstance(host, UnboundHost):
            return host.result()
        source = source_of(hosts, host)
        context.progress(f"connecting to {host.name}")
        try:
            done = await run_on_host(
                hosts,
                host,
                line,
                user=context.user,
                seconds=arguments.get("timeout_seconds", usual),
                limits=CaptureLimits(
                    Limits(bytes=max_bytes), Limits(bytes=ERROR_BYTES), STOP_AFTER_BYTES
                ),
                redactor=context.redactor,
                offload=context.scratch / f"host-{secrets.token_hex(6)}.txt",
                clock=context.clock,
            )
        except DialFailed as failure:
            notes = memo.note(failure, context.clock.monotonic())
            return failure.result(source, command=line, notes=notes)
        return result_of(done, line, source)

    return Tool(
        name="host_exec",
        description=_DESCRIPTION,
        parameters=_parameters(hosts, usual, longest),
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=longest + MARGIN_SECONDS,
        judge=judge,
        example={"host": "web-1", "command": "df -h /"},
    )


def judge(arguments: Mapping[str, Any]) -> Decision:
    """Deny what is not read-only. No level of autonomy lifts this: the tool's class rests on it."""
    from truepenny.command.check import check
    from truepenny.command.refusal import Refusal

    found = check(arguments["command"], "host")
    if not isinstance(found, Refusal):
        return ALLOW
    return deny(
        found.rejected_by, found.message, rule=_RULE, hint=found.hint, matched=found.matched
    )


_RULE = "command.host"


def source_of(hosts: Hosts, host: Host) -> dict[str, str]:
    """Return where an answer of a host comes from."""
    source = {"host": host.name, "address": host.place, "user": host.entry.user}
    if host.jump is not None:
        source["way"] = " -> ".join(hop.name for hop in hosts.way(host))
    return source


def result_of(done: HostRun, line: str, source: dict[str, str]) -> Result:
    """Return the result of a run; `line` is how it is told, `source` where it ran."""
    execution, meaning = done.execution, done.meaning
    out, err = execution.stdout, execution.stderr
    sizes = (out.bytes, err.bytes)
    total = sum(size.kept + size.discarded + size.offloaded for size in sizes)
    file = execution.offloaded
    rest = "narrow the line, with grep or head"
    view = View(
        sum(size.kept for size in sizes),
        total,
        out.kept_lines + err.kept_lines,
        out.lines + err.lines,
        out.cut or err.cut,
        f"{rest}; the whole output is in {file.path}" if file is not None and file.bytes else rest,
    )
    facts = process_facts(
        execution, meaning, view, command=line, notes=_notes(done), detail=_detail(done)
    )
    # No process of ours ran that limits or an account could hold.
    facts = replace(facts, source=source, containment={})
    if meaning.reason == NO_BASH_THERE:
        facts = replace(facts, completeness=NEVER_RAN, exit=None, hint=_PLAINER)
        return Result(meaning.outcome, (Text("the host has no bash: the line did not run"),), facts)
    if meaning.leg is Leg.TRANSPORT:
        facts = replace(facts, completeness=_unknown(meaning.reason, view), hint=_HINT)
    text = out.text
    if err.text:
        joint = "\n" if text and not text.endswith("\n") else ""
        text = f"{text}{joint}STDERR:\n{err.text}"
    return Result(meaning.outcome, (Text(text),), facts)


_PLAINER = "use a line of words, quotes and pipes alone, which its sh reads the same way"

_HINT = "Nobody knows how it ended: ask again whether what it did is done, before repeating it."


def _unknown(reason: str, view: View) -> Completeness:
    return Completeness("unknown", reason.replace("_", " "), "lines", view.shown_lines)


def _unusable(line: str) -> str:
    """Return why no shell can be given this line; empty where it can."""
    if "\0" in line:
        return "has a NUL character"
    try:
        size = len(line.encode())
    except UnicodeEncodeError:
        return "has half of a character (a lone surrogate)"
    return f"has {size} bytes; {LINE_BYTES} are the most" if size > LINE_BYTES else ""


def _notes(done: HostRun) -> tuple[str, ...]:
    connection = done.connection
    if not connection.first_use:
        return ()
    names = ", ".join(connection.first_use)
    return (f"reached for the first time, its key is trusted from now on: {names}",)


def _detail(done: HostRun) -> dict[str, Any]:
    connection, ended = done.connection, done.ended
    detail: dict[str, Any] = {
        "seconds_to_connect": round(done.seconds_to_connect, 3),
        "host_key": str(connection.key),
    }
    if connection.first_use:
        detail["first_use"] = list(connection.first_use)
    if done.signal_name:
        detail["signal_name"] = done.signal_name
    if ended is not None:
        told = {"pids": list(ended.pids), "why": ended.why}
        detail["remote_end"] = {
            "state": ended.state,
            "found": ended.found,
            **{key: value for key, value in told.items() if value},
        }
    return detail


def _parameters(hosts: Hosts, usual: float, longest: float) -> dict[str, Any]:
    few = ", ".join(hosts.names[:_SHOWN_NAMES])
    more = "; host_list names the others" if len(hosts.names) > _SHOWN_NAMES else ""
    return {
        "type": "object",
        "properties": {
            "host": {"type": "string", "minLength": 1, "description": f"{few or 'none'}{more}."},
            "command": {"type": "string", "minLength": 1, "description": "The line for bash."},
            "timeout_seconds": {
                "type": "number",
                "minimum": MIN_SECONDS,
                "maximum": longest,
                "description": f"For connecting and running, {usual:g} unless given.",
            },
        },
        "required": ["host", "command"],
        "additionalProperties": False,
    }


_SHOWN_NAMES = 20
"""Names of hosts in the description of an argument."""
