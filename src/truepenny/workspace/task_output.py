"""The `task_output` tool: what a command in the background has written, and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from truepenny.errors import StorageFailed
from truepenny.execute.background.output import Reading
from truepenny.execute.background.record import State
from truepenny.execute.background.runs import BackgroundRun
from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.model.message import Text
from truepenny.text.bound import utf8_length
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.process_facts import View
from truepenny.tool.result import Facts, Result, invalid

from .background import facts_of, find, meaning_of, owner, state_line
from .shape.shaper import BODY_BYTES
from .shape.tail import Tail
from .workspace import Workspace

DEFAULT_LINES = 50
MOST_LINES = 2000
MAX_WAIT_MS = 60_000
"""A call waits no longer: whoever waits can do nothing else."""

OUTER_SECONDS = MAX_WAIT_MS / 1000 + 30.0

MOST_LISTED = 64

_DESCRIPTION = """\
Look at a command that bash started with background=true: its state, how it ended, and its output. \
Without `id`, list them. `lines` shows the last lines (default), `offset` goes on reading from a \
byte. `wait_ms` waits that long for it to end. Looking never ends it."""


def task_output_tool(workspace: Workspace) -> Tool:
    """Return the tool. `Facts.detail`: `background` (id, state, started_at, path), `reading`
    (offset, next, size, cut), or `runs` for a list."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        if "offset" in arguments and "lines" in arguments:
            return invalid("arguments", "`offset` and `lines` exclude each other")
        if "id" not in arguments:
            return _list(workspace, context)
        found = find(workspace.runs, arguments["id"], context)
        if isinstance(found, Result):
            return found
        if wait := arguments.get("wait_ms", 0):
            with anyio.move_on_after(wait / 1000):
                await found.ended.wait()
        try:
            if "offset" in arguments:
                most = arguments.get("limit", BODY_BYTES)
                reading = workspace.runs.read(owner(context), found.id, arguments["offset"], most)
            else:
                lines = arguments.get("lines", DEFAULT_LINES)
                reading = workspace.runs.tail(owner(context), found.id, lines)
        except StorageFailed as error:
            facts = facts_of(found, View(0, 0, 0, 0), ByteCounts())
            text = f"{state_line(found)}\nits output cannot be read: {error.message}"
            return Result(Outcome.INTERNAL_ERROR, (Text(text),), facts).with_facts(
                reason="output_unreadable", hint=error.remedy
            )
        return _result(found, reading)

    return Tool(
        name="task_output",
        description=_DESCRIPTION,
        parameters=_PARAMETERS,
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=OUTER_SECONDS,
        example={"id": "run_01abc", "lines": 20},
    )


def _result(run: BackgroundRun, reading: Reading) -> Result:
    tail = Tail(BODY_BYTES)
    tail.feed(reading.text)
    text = tail.text
    kept = utf8_length(text)
    offset = reading.next - kept
    total = reading.size + reading.cut
    following = ""
    if reading.next < reading.size:
        following = f"task_output id={run.id} offset={reading.next}"
    elif offset > 0:
        following = f"task_output id={run.id} offset=0"
    shown = len(text.splitlines())
    view = View(kept, total, shown, shown, kept < total, following)
    sizes = ByteCounts(total, kept, reading.cut, reading.size - kept, str(run.path))
    facts = facts_of(run, view, sizes)
    if facts.completeness.state == "partial":
        # How many lines the file has nobody counted; how long it gets nobody knows.
        final = None if run.state is State.RUNNING else total
        partial = replace(facts.completeness, unit="bytes", shown=kept, total=final)
        facts = replace(facts, completeness=partial)
    detail = {
        **facts.detail,
        "reading": {
            "offset": offset,
            "next": reading.next,
            "size": reading.size,
            "cut": reading.cut,
        },
    }
    said = [state_line(run), f"output: bytes {offset} to {reading.next} of {reading.size}"]
    if reading.cut:
        said.append(f"{reading.cut} bytes more are kept nowhere{_why(reading)}")
    facts = replace(facts, detail=detail, notes=(*said, *facts.notes))
    return Result(meaning_of(run).outcome, (Text(text),), facts)


def _why(reading: Reading) -> str:
    return f": {reading.problem}" if reading.problem else ": the file is at its limit"


def _list(workspace: Workspace, context: CallContext) -> Result:
    runs = workspace.runs.all(owner(context))
    lines = [f"{state_line(run)}: {run.label.splitlines()[0][:100]}" for run in runs[-MOST_LISTED:]]
    outcome = Outcome.SUCCESS if runs else Outcome.NO_MATCH
    text = "\n".join(lines) if runs else "nothing was started in the background"
    listed = [
        {"id": run.id, "state": str(run.state), "path": str(run.path)}
        for run in runs[-MOST_LISTED:]
    ]
    running = sum(run.state is State.RUNNING for run in runs)
    facts = Facts(detail={"runs": listed, "running": running, "total": len(runs)})
    return Result(outcome, (Text(text),), facts)


_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 64},
        "lines": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_LINES,
            "description": f"Last lines; {DEFAULT_LINES} unless given.",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "Byte to read on from, instead of `lines`.",
        },
        "limit": {
            "type": "integer",
            "minimum": 4,
            "maximum": BODY_BYTES,
            "description": "Most bytes of a read from `offset`.",
        },
        "wait_ms": {
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_WAIT_MS,
            "description": "Wait for its end, at most so long.",
        },
    },
    "additionalProperties": False,
}
