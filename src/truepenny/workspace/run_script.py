"""The `run_script` tool: one script file of the workspace, with a record that outlives the call."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import anyio.to_thread

from truepenny.errors import ConfigurationError, CouldNotRun, StorageFailed
from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Offloaded
from truepenny.execute.outcome import Classification, classify
from truepenny.model.message import Text
from truepenny.sandbox.plan import Profile
from truepenny.sandbox.roots import file_roots
from truepenny.text.bound import utf8_length
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.process_facts import View, not_contained, not_started, process_facts
from truepenny.tool.result import NEVER_RAN, Facts, Result

from .file.access import file_access
from .script_run.folder import new_folder
from .script_run.manifest import RunOutcome
from .script_run.request import (
    ARGUMENT_BYTES,
    DEFAULT_SECONDS,
    INTERPRETERS,
    MAX_SECONDS,
    MOST_ARGUMENTS,
    MOST_FILES,
    MOST_VARIABLES,
    PATH_CHARS,
    VARIABLE,
    Request,
    read_request,
)
from .script_run.retention import Sweep, sweep
from .script_run.run import Run, make_run
from .workspace import Workspace

MARGIN_SECONDS = 60.0
"""Beyond the longest run: ending it, hashing its inputs, sweeping old runs."""

TOLD_OUTPUTS = 16
"""Declared outputs that the text tells one by one; the facts and the manifest have all."""

_DESCRIPTION = f"""\
Run a script file of the workspace with a named interpreter and keep a record of it: both logs \
whole, hashes of the script and of `inputs`, what became of `outputs`. For work that takes minutes \
to hours ({MAX_SECONDS / 3600:g} h at most); the call waits for the end. Nothing is kept between \
calls but files. `inputs` and `outputs` are only recorded; they limit nothing. Bash scripts run \
with pipefail. The result shows the last 8 KiB of each stream and names the logs."""


def run_script_tool(workspace: Workspace) -> Tool:
    """Return the tool. `Facts.detail`: `run` (id, folder, outcome), `logs`, `script`, `outputs`,
    `env` (names alone), `sweep`, and what `process_facts` tells."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        request = read_request(arguments, workspace.root)
        if isinstance(request, Result):
            return request
        return await _run(workspace, request, context)

    return Tool(
        name="run_script",
        description=_DESCRIPTION,
        parameters=_PARAMETERS,
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.EXECUTE,
        concurrency="sequential",
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        example={"interpreter": "python3", "script": "analyse.py", "args": ["--fast"]},
    )


async def _run(workspace: Workspace, request: Request, context: CallContext) -> Result:
    line = shlex.join((request.interpreter, *request.words))
    try:
        sandbox = workspace.sandbox(Profile.COMMAND)
    except (ConfigurationError, CouldNotRun) as error:
        return not_contained(error, line)
    runs = workspace.script_runs
    try:
        folder = new_folder(runs, context.clock.now())
        # Whoever is run decides what is in the workspace: we read no more for it than it may.
        access = file_access(workspace.root, file_roots(sandbox.plan))
        env = workspace.environment(sandbox)
        run = await make_run(request, folder, sandbox, env, access, context)
    except StorageFailed as error:
        facts = Facts(completeness=NEVER_RAN, reason="run_folder", hint=error.remedy, command=line)
        return Result(Outcome.INTERNAL_ERROR, (Text(f"it did not run: {error.message}"),), facts)
    swept = await anyio.to_thread.run_sync(
        partial(sweep, runs, workspace.settings.kept_runs, context.clock.now())
    )
    return _result(request, run, swept, line)


def _result(request: Request, run: Run, swept: Sweep, line: str) -> Result:
    meaning = _meaning(run)
    detail: dict[str, Any] = {
        "run": {"id": run.folder.id, "folder": str(run.folder.path), "outcome": str(run.outcome)},
        "logs": {"stdout": str(run.folder.stdout), "stderr": str(run.folder.stderr)},
        "script": run.manifest["script"],
        "outputs": run.manifest["outputs"],
        "env": run.manifest["env"],
        "sweep": swept.record(),
    }
    if request.clamped:
        detail["timeout_clamped_to"] = MAX_SECONDS
    if run.problem:
        detail["problem"] = run.problem
    if run.execution.failure is not None:
        result = not_started(run.execution, meaning, line)
        return result.with_facts(detail={**result.facts.detail, **detail}, notes=_notes(run))
    text, view = _text(run)
    notes = _notes(run)
    # The logs are the whole output, in two files.
    logs = Offloaded(str(run.folder.path), run.log.written, not run.log.problem, run.log.problem)
    execution = replace(run.execution, offloaded=logs)
    facts = process_facts(execution, meaning, view, command=line, notes=notes, detail=detail)
    return Result(meaning.outcome, (Text(text),), facts).with_facts(exit=run.exit)


def _meaning(run: Run) -> Classification:
    """Return what it came to. What failed around it is a failure as well, and named."""
    meaning = classify(run.execution)
    if not run.manifest_written:
        return Classification(Outcome.INTERNAL_ERROR, "manifest")
    if meaning.outcome.failed:
        return meaning
    if run.outcome is RunOutcome.FAILED and run.problem:
        return Classification(Outcome.TRUNCATED, "log")
    if run.outcome is not RunOutcome.SUCCEEDED:
        return Classification(Outcome.TARGET_FAILED, str(run.outcome).replace("-", "_"))
    return meaning


def _notes(run: Run) -> tuple[str, ...]:
    head = [f"run {run.folder.id}: {run.outcome}"]
    outputs: list[dict[str, Any]] = run.manifest["outputs"]
    head += [f"output {entry['path']}: {entry['status']}" for entry in outputs[:TOLD_OUTPUTS]]
    if len(outputs) > TOLD_OUTPUTS:
        head.append(f"{len(outputs) - TOLD_OUTPUTS} more outputs are in {run.folder.manifest}")
    if run.problem:
        head.append(run.problem)
    return tuple(head)


def _text(run: Run) -> tuple[str, View]:
    parts: list[str] = []
    kept, total, shown_lines, lines, following = 0, 0, 0, 0, ""
    for stream, tail in run.log.tails.items():
        if not tail.total:
            continue
        path = run.folder.stdout if stream == "stdout" else run.folder.stderr
        shown = tail.text
        mark = ""
        if missing := tail.total - utf8_length(shown):
            mark = f"[... {missing} earlier bytes are in {path} ...]\n"
            following = following or f"read path={path}"
        joint = "" if shown.endswith("\n") else "\n"
        parts.append(f"{stream.upper()}:\n{mark}{shown}{joint}")
        kept += tail.total - missing
        total += tail.total
        shown_lines += min(len(shown.splitlines()), tail.lines)
        lines += tail.lines
    view = View(kept, total, shown_lines, lines, kept < total, following)
    return "".join(parts), view


_WORDS = {
    "type": "array",
    "maxItems": MOST_ARGUMENTS,
    "items": {"type": "string", "maxLength": ARGUMENT_BYTES},
}
_FILES = {
    "type": "array",
    "maxItems": MOST_FILES,
    "items": {"type": "string", "minLength": 1, "maxLength": PATH_CHARS},
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "interpreter": {"type": "string", "enum": list(INTERPRETERS)},
        "script": {
            "type": "string",
            "minLength": 1,
            "maxLength": PATH_CHARS,
            "description": "A file of the workspace.",
        },
        "args": {**_WORDS, "description": "Words after the script."},
        "interpreter_args": {
            **_WORDS,
            "description": "Words before the script; python gets -u unless this is given.",
        },
        "cwd": {
            "type": "string",
            "maxLength": PATH_CHARS,
            "description": "Folder in the workspace; its root unless given.",
        },
        "timeout_ms": {
            "type": "integer",
            "minimum": 1,
            "description": f"{DEFAULT_SECONDS * 1000:.0f} unless given; more than "
            f"{MAX_SECONDS * 1000:.0f} is cut to that.",
        },
        "inputs": {**_FILES, "description": "Files to record with their hashes."},
        "outputs": {**_FILES, "description": "Files to record as created, modified or absent."},
        "env": {
            "type": "object",
            "maxProperties": MOST_VARIABLES,
            "propertyNames": {"pattern": VARIABLE},
            "additionalProperties": {"type": "string", "maxLength": ARGUMENT_BYTES},
            "description": "Variables; their values are kept out of every record.",
        },
    },
    "required": ["interpreter", "script"],
    "additionalProperties": False,
}
