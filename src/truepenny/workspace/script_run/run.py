"""Making one run: its folder first, its manifest last, whatever happens between."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import anyio
import anyio.to_thread

from truepenny.errors import StorageFailed
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import ExitFact
from truepenny.execute.execution import Execution
from truepenny.execute.process import run
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.atomic import storage_failed
from truepenny.system.clock import timestamp
from truepenny.tool.contract import CallContext
from truepenny.workspace.file.access import FileAccess
from truepenny.workspace.file.fault import FileFault

from .folder import RunFolder
from .interpreter import Interpreter, find_interpreter
from .log import RunLog
from .manifest import VERSION, RunOutcome, effective_exit, publish_manifest, run_outcome
from .provenance import Hashed, Identity, compare, hash_file, hash_inputs, look
from .request import Request, learn_values

LOG_CEILING_BYTES = 1024 * 1024 * 1024
"""Of both logs together, raw. Reaching it stops the run: a loop must not fill the disk, and hours
of honest work write less."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that ended. `exit` is the leader's with the meaning of the whole run. `problem` says
    what went wrong around it: a log, the manifest (then `manifest_written` is False)."""

    folder: RunFolder
    execution: Execution
    outcome: RunOutcome
    exit: ExitFact
    log: RunLog
    manifest: Mapping[str, Any]
    manifest_written: bool = True
    problem: str = ""


@dataclass(slots=True)
class _Record:
    """What is known so far; it becomes the manifest, also of a run that was aborted."""

    request: Request
    folder: RunFolder
    started: datetime
    interpreter: Interpreter
    access: FileAccess
    redacted: tuple[str, ...]
    script: Hashed = field(default_factory=lambda: Hashed(omitted="cancelled"))
    inputs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


async def make_run(
    request: Request,
    folder: RunFolder,
    sandbox: Sandbox,
    env: Mapping[str, str],
    access: FileAccess,
    context: CallContext,
) -> Run:
    """Run it in its folder. `env` is the clean environment, without the declared variables;
    `access` is what a command may read.

    Raises StorageFailed where no log can be made. Cancelled, it ends what runs and leaves a
    manifest that says so.
    """
    clock = context.clock
    began = clock.monotonic()
    learned = learn_values(request.env, context.redactor)
    # By our own PATH, so that no declared variable decides which program the name means.
    interpreter = find_interpreter(access, request.interpreter, env.get("PATH", os.defpath))
    record = _Record(request, folder, clock.now(), interpreter, access, learned)
    before = {name: look(access, path) for name, path in request.outputs.items()}
    try:
        log = RunLog({"stdout": folder.stdout, "stderr": folder.stderr}, context.progress, clock)
    except OSError as error:
        folder.discard()
        raise storage_failed(error, folder.path, "Making the logs of the run") from error
    execution: Execution | None = None
    try:
        record.script = await anyio.to_thread.run_sync(
            hash_file, access, request.script, abandon_on_cancel=True
        )
        record.inputs = await anyio.to_thread.run_sync(
            hash_inputs, access, request.inputs, abandon_on_cancel=True
        )
        execution = await run(
            Command(
                argv=(interpreter.program, *request.words),
                env={**env, **request.env},
                cwd=request.cwd,
                timeout=request.timeout,
                limits=CaptureLimits(stop_after=LOG_CEILING_BYTES),
                redactor=context.redactor,
                sandbox=sandbox,
            ),
            on_output=log.feed,
            clock=clock,
        )
    finally:
        # Nothing here waits: a call that is being cancelled leaves its manifest, too.
        log.close()
        outcome = run_outcome(execution, sink_problem=log.problem)
        outputs = [
            _output(name, before[name], look(access, path))
            for name, path in request.outputs.items()
        ]
        ended = execution or Execution(duration=clock.monotonic() - began)
        exit = effective_exit(ended.exit, outcome)
        manifest, _ = context.redactor.json(
            _manifest(record, ended, outcome, exit, outputs, log.problem, clock.now())
        )
        problem, written = log.problem, True
        try:
            publish_manifest(folder.manifest, manifest)
            folder.finish()
        except StorageFailed as error:
            problem, written = f"the manifest was not written: {error.message}", False
    return Run(folder, ended, outcome, exit, log, manifest, written, problem)


def _output(
    name: str, before: Identity | FileFault | None, after: Identity | FileFault | None
) -> dict[str, Any]:
    size = after.size if isinstance(after, Identity) else None
    return {"path": name, "status": compare(before, after), "bytes": size}


def _manifest(
    record: _Record,
    execution: Execution,
    outcome: RunOutcome,
    exit: ExitFact,
    outputs: list[dict[str, Any]],
    log_problem: str,
    now: datetime,
) -> dict[str, Any]:
    request, held, failure = record.request, execution.containment, execution.failure
    leader = execution.exit
    manifest: dict[str, Any] = {
        "version": VERSION,
        "tool": "run_script",
        "runId": record.folder.id,
        "startedAt": timestamp(record.started),
        "finishedAt": timestamp(now),
        "durationMs": round(execution.duration * 1000),
        "outcome": str(outcome),
        "exitCode": exit.effective,
        "leaderExit": {"code": leader.observed, "signal": leader.signal},
        "signal": leader.signal,
        "cause": None if execution.cause is None else str(execution.cause),
        "script": {
            "path": request.script_name,
            "realPath": str(request.script),
            **record.script.record(),
            "changedWhileRunning": _changed(record),
        },
        "interpreter": {
            "name": request.interpreter,
            "resolvedPath": record.interpreter.real,
            "args": list(request.interpreter_args),
        },
        "argv": [request.interpreter, *request.words],
        "cwd": str(request.cwd),
        "env": {"declaredKeys": sorted(request.env), "redactedKeys": sorted(record.redacted)},
        "timeoutMs": round(request.timeout * 1000),
        "stdout": {"bytes": execution.stdout.bytes.observed, "log": str(record.folder.stdout)},
        "stderr": {"bytes": execution.stderr.bytes.observed, "log": str(record.folder.stderr)},
        "inputs": record.inputs,
        "outputs": outputs,
        "cleanup": {
            "descendantsCleaned": execution.leftovers,
            "incomplete": bool(execution.survivors),
        },
        "pipeDrainIncomplete": not execution.drained,
        "sandbox": {"level": str(held.level), **held.facts()},
    }
    if failure is not None:
        manifest["failure"] = {"reason": failure.fault.value, "message": failure.message}
    elif log_problem:
        manifest["failure"] = {"reason": "log", "message": log_problem}
    return manifest


def _changed(record: _Record) -> bool | None:
    """Whether the script is another file now than the one that was hashed; None where unknown."""
    hashed, found = record.script.identity, look(record.access, record.request.script)
    return None if hashed is None or isinstance(found, FileFault) else found != hashed
