"""The `job_stop` tool: end a command in the background, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truepenny.execute.background.record import State
from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.model.message import Text
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.process_facts import View
from truepenny.tool.result import Completeness, Result

from .background import facts_of, find, meaning_of, owner, state_line
from .workspace import Workspace

OUTER_SECONDS = 60.0
"""Asking, then killing, then waiting for the kernel takes a few seconds at the very most."""

_DESCRIPTION = """\
End a command that bash started with background=true, and all processes it started. The result \
says whether this call ended it, or how it had ended before. Its output stays readable with \
task_output."""


def job_stop_tool(workspace: Workspace) -> Tool:
    """Return the tool. `Facts.detail`: `background` (as in `task_output`), `stopped` (by this
    call), `ended_before`."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        found = find(workspace.runs, arguments["id"], context)
        if isinstance(found, Result):
            return found
        before = found.state
        ended = await workspace.runs.stop(owner(context), found.id)
        stopped = before is State.RUNNING and ended.state is State.STOPPED
        facts = facts_of(ended, View(0, 0, 0, 0), ByteCounts())
        detail = {
            **facts.detail,
            "stopped": stopped,
            "ended_before": before is not State.RUNNING,
        }
        if stopped:
            # That it was interrupted is what was asked for, and it has its place in the facts.
            outcome, said = Outcome.SUCCESS, "it was stopped"
        elif before is not State.RUNNING:
            outcome, said = meaning_of(ended).outcome, "it had ended before: nothing was done"
        else:
            outcome, said = meaning_of(ended).outcome, "it ended by itself at that moment"
        text = f"{said}\n{state_line(ended)}\noutput: {ended.path}"
        result = Result(outcome, (Text(text),), facts)
        return result.with_facts(detail=detail, completeness=Completeness())

    return Tool(
        name="job_stop",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {"id": {"type": "string", "minLength": 1, "maxLength": 64}},
            "required": ["id"],
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.EXECUTE,
        concurrency="sequential",
        timeout=OUTER_SECONDS,
        example={"id": "run_01abc"},
    )
