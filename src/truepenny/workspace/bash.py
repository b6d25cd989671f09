"""The `bash` tool: one shell line in the workspace, in the foreground or in the background."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from truepenny.errors import ConfigurationError, CouldNotRun, StorageFailed
from truepenny.execute.background.runs import TooManyRuns
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.execute.execution import Execution, Offloaded
from truepenny.execute.shell import classify_line, line_command, run_line
from truepenny.model.message import Text
from truepenny.sandbox.plan import Profile
from truepenny.system.atomic import publish
from truepenny.text.bound import Limits, bound
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.process_facts import View, not_contained, not_started, process_facts
from truepenny.tool.result import NEVER_RAN, Facts, Result, invalid, refused

from .argument import inside, no_folder, unusable_text
from .background import LABEL_BYTES, facts_of, owner
from .nudge import nudge
from .shape import RESULT_BYTES, Policy, Shaped, Shaper
from .workspace import Workspace

OUTPUT_CEILING_BYTES = 16 * 1024 * 1024
"""Of both streams together, raw. Reaching it stops the command: nobody reads more, and what writes
so much is mostly caught in a loop (tools spec 2.4)."""

MAX_SECONDS = 3600.0
"""The longest a call may wait for a line. What takes longer belongs into the background."""

MAX_BACKGROUND_SECONDS = 24 * 3600.0
"""A command in the background that nobody stops ends after a day."""

MARGIN_SECONDS = 30.0
"""The tool's outer limit leaves room to end the command and to tell of it."""

LINE_BYTES = 128 * 1024 - 1
"""Linux passes no longer argument to a program."""

_DESCRIPTION = """\
Run one line with bash in the workspace, inside a sandbox. Each call is a fresh shell: directory, \
variables and functions are gone afterwards, only files stay. Standard input is empty. `pipefail` \
is on. The result says exit code, signal, stages of the last pipeline, and what was left out; \
output that does not fit is kept in a file that it names. Processes still running when the line \
ends are ended; for servers and long work use background=true, then task_output and job_stop."""


def bash_tool(workspace: Workspace) -> Tool:
    """Return the tool. `Facts.detail` has what `process_facts` tells, and: `output_policy` (asked,
    used, reason), `cwd`, `sha256` and `error_lines` of a summary, `background` (id)."""
    default = workspace.settings.command_timeout
    longest = max(MAX_SECONDS, default)

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        line: str = arguments["command"]
        if wrong := unusable_text(line, "command", LINE_BYTES):
            return wrong
        if not line.strip():
            return invalid("empty", "command is empty: there is nothing to run")
        cwd = _directory(workspace.root, arguments.get("cwd", "."))
        if isinstance(cwd, Result):
            return cwd
        asked = arguments.get("timeout_ms")
        if arguments.get("background", False):
            if "output_policy" in arguments:
                return invalid(
                    "arguments",
                    "output_policy has no meaning in the background",
                    "leave it out; task_output shows as much as is asked for",
                )
            seconds = MAX_BACKGROUND_SECONDS if asked is None else asked / 1000
            return await _start(workspace, line, cwd, seconds, context)
        seconds = default if asked is None else asked / 1000
        if seconds > longest:
            return invalid(
                "timeout",
                f"timeout_ms is more than {longest * 1000:.0f}",
                "use background=true for longer work",
            )
        policy = Policy(arguments.get("output_policy", Policy.BOUNDED))
        return await _run(workspace, line, cwd, seconds, policy, context)

    return Tool(
        name="bash",
        description=_DESCRIPTION,
        parameters=_parameters(default, longest),
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.EXECUTE,
        concurrency="sequential",
        timeout=longest + MARGIN_SECONDS,
        example={"command": "grep -rn TODO src | head -20"},
    )


async def _run(
    workspace: Workspace,
    line: str,
    cwd: Path,
    seconds: float,
    policy: Policy,
    context: CallContext,
) -> Result:
    file = context.scratch / f"bash-{secrets.token_hex(6)}.txt"
    command = _command(workspace, line, cwd, seconds, context, file)
    if isinstance(command, Result):
        return command
    shaper = Shaper(policy)
    execution = await run_line(command, on_output=shaper.feed, clock=context.clock)
    meaning = classify_line(execution, line)
    if execution.failure is not None:
        return not_started(execution, meaning, line)
    shaped = shaper.finish()
    execution = _kept_whole(execution, shaped, file)
    offloaded = execution.offloaded if shaped.cut else None
    view = View(
        shaped.kept,
        shaped.total,
        shaped.shown_lines,
        shaped.total_lines,
        shaped.cut,
        f"read path={offloaded.path}" if offloaded is not None and offloaded.bytes else "",
    )
    detail: dict[str, Any] = {"output_policy": {"asked": str(policy), "used": str(policy)}}
    if shaped.downgraded:
        detail["output_policy"] |= {"used": str(Policy.BOUNDED), "reason": shaped.downgraded}
    if cwd != workspace.root:
        detail["cwd"] = str(cwd)
    if shaped.sha256:
        detail["sha256"] = shaped.sha256
    if shaped.error_lines is not None:
        detail["error_lines"] = shaped.error_lines
    notes = _said(shaped, policy) + _nudged(workspace, line, context)
    facts = process_facts(execution, meaning, view, command=line, notes=notes, detail=detail)
    return Result(meaning.outcome, (Text(shaped.text),), facts)


async def _start(
    workspace: Workspace, line: str, cwd: Path, seconds: float, context: CallContext
) -> Result:
    command = _command(workspace, line, cwd, seconds, context, None)
    if isinstance(command, Result):
        return command
    # It may write as long as it runs: its file has a limit of its own.
    command = replace(command, limits=replace(command.limits, stop_after=None))
    label = bound(line, Limits(bytes=LABEL_BYTES)).text
    try:
        run = workspace.runs.start(command, owner=owner(context), label=label)
    except TooManyRuns as error:
        return refused("too_many_runs", error.message, error.remedy)
    except CouldNotRun as error:
        facts = Facts(completeness=NEVER_RAN, reason="background", hint=error.remedy, command=label)
        return Result(Outcome.INTERNAL_ERROR, (Text(f"it did not run: {error.message}"),), facts)
    if run.execution is not None and run.execution.failure is not None:
        return not_started(run.execution, classify_line(run.execution, line), line)
    facts = facts_of(run, View(0, 0, 0, 0), ByteCounts())
    said = f"started in the background as {run.id}; its end is not known yet\noutput: {run.path}\n"
    following = f"task_output id={run.id}"
    whole = replace(facts.completeness, next=following)
    return Result(Outcome.SUCCESS, (Text(said),), replace(facts, completeness=whole))


def _command(
    workspace: Workspace,
    line: str,
    cwd: Path,
    seconds: float,
    context: CallContext,
    offload: Path | None,
) -> Command | Result:
    try:
        sandbox = workspace.sandbox(Profile.COMMAND)
    except (ConfigurationError, CouldNotRun) as error:
        return not_contained(error, line)
    return line_command(
        line,
        env=workspace.environment(sandbox),
        cwd=cwd,
        timeout=seconds,
        limits=CaptureLimits(
            Limits(bytes=RESULT_BYTES), Limits(bytes=RESULT_BYTES), OUTPUT_CEILING_BYTES
        ),
        redactor=context.redactor,
        sandbox=sandbox,
        offload=offload,
    )


def _kept_whole(execution: Execution, shaped: Shaped, file: Path) -> Execution:
    """Keep the whole output also where it is short enough to be held but not to be shown."""
    if not shaped.cut or execution.offloaded is not None or not shaped.whole:
        return execution
    data = shaped.whole.encode("utf-8", "surrogatepass")
    try:
        publish(file, data)
    except StorageFailed as error:
        lost = Offloaded(str(file), 0, complete=False, problem=error.message)
        return replace(execution, offloaded=lost)
    return replace(execution, offloaded=Offloaded(str(file), len(data)))


def _said(shaped: Shaped, policy: Policy) -> tuple[str, ...]:
    said: list[str] = []
    if policy is Policy.METADATA_ONLY and shaped.total:
        lines = "1 line" if shaped.total_lines == 1 else f"{shaped.total_lines} lines"
        said.append(f"{shaped.total} bytes in {lines} are not shown")
    if shaped.downgraded:
        said.append(f"not shown in full: {shaped.downgraded}")
    if shaped.sha256:
        said.append(f"sha256 of the whole output, redacted: {shaped.sha256}")
    return tuple(said)


def _nudged(workspace: Workspace, line: str, context: CallContext) -> tuple[str, ...]:
    """Return the word towards the file tools, once for each session."""
    whose = owner(context)
    if whose in workspace.nudged or not (word := nudge(line)):
        return ()
    workspace.nudged.add(whose)
    return (word,)


def _directory(root: Path, name: str) -> Path | Result:
    if wrong := unusable_text(name, "cwd"):
        return wrong
    found = inside(root, name, "cwd")
    if isinstance(found, Result):
        return found
    with suppress(OSError):
        if found.is_dir():
            return found
    return no_folder(root, name)


def _parameters(default: float, longest: float) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "The line for bash."},
            "cwd": {
                "type": "string",
                "minLength": 1,
                "description": "Folder in the workspace; its root unless given.",
            },
            "timeout_ms": {
                "type": "integer",
                "minimum": 1,
                "maximum": int(MAX_BACKGROUND_SECONDS * 1000),
                "description": f"{default * 1000:.0f} unless given, {longest * 1000:.0f} at most; "
                f"in the background {MAX_BACKGROUND_SECONDS * 1000:.0f}.",
            },
            "output_policy": {
                "type": "string",
                "enum": [str(policy) for policy in Policy],
                "description": "bounded (default): head and tail of 8 KiB; full: up to 14 KiB; "
                "summary: first, last and error-like lines; metadata-only: no output.",
            },
            "background": {
                "type": "boolean",
                "description": "Start it and return its id at once; it ends with the session.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    }
