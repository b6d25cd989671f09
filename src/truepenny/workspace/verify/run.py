"""Running one declared check in the sandbox, and saying what it came to."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.execute.capture import Captured
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification, classify
from truepenny.execute.process import run
from truepenny.model.message import Text
from truepenny.sandbox.plan import Profile
from truepenny.text.bound import Limits, bound
from truepenny.tool.contract import CallContext
from truepenny.tool.process_facts import (
    View,
    not_contained,
    process_facts,
)
from truepenny.tool.result import Result, invalid, refused
from truepenny.workspace.workspace import Workspace

from .catalog import cwd_problem
from .check import Check, NumericRule, PerfRule
from .inside import Reach
from .judge import ExitJudge, Judge, NotPrepared
from .judgement import Judgement, Ran, Validation, axes, axes_lines, ran
from .numeric_judge import NumericJudge
from .perf_judge import PerfJudge

DEFAULT_OUTPUT_BYTES = 600_000
"""Of both streams, after which a check is stopped (tools spec 2.10)."""

SHOWN_STDOUT = Limits(bytes=8 * 1024)
SHOWN_STDERR = Limits(bytes=4 * 1024)
"""Of a check's output in the result; the whole of it is kept in a file."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call, its arguments read. None means that the call does not say."""

    args: tuple[str, ...] = ()
    cwd: str | None = None
    timeout_ms: int | None = None
    max_output_bytes: int = DEFAULT_OUTPUT_BYTES
    record_baseline: bool = False


async def run_check(
    workspace: Workspace, check: Check, request: Request, context: CallContext
) -> Result:
    """Prepare, run, judge. Nothing runs where something to judge by is missing."""
    detail = {"check": check.id, "kind": str(check.kind), "place": check.place}
    never = {**detail, **axes(Ran.UNAVAILABLE, Validation.NOT_RUN)}
    argv = (*check.argv, *request.args)
    try:
        # Looks at accounts and folders, which may take a while on a slow file system.
        sandbox = await anyio.to_thread.run_sync(workspace.sandbox, Profile.COMMAND)
    except (CouldNotRun, ConfigurationError) as error:
        return _never(not_contained(error, shlex.join(argv)), never)
    made = partial(_judge, workspace.root, check, request, context, Reach.of(sandbox))
    try:
        judge = await anyio.to_thread.run_sync(made)
    except NotPrepared as problem:
        return _never(invalid(problem.reason, str(problem), problem.hint), never)
    if request.args and not judge.takes_arguments:
        message = f"{check.id} is a {check.kind} check: other words would make another check of it"
        return _never(invalid("args_not_taken", message), never)
    cwd = check.cwd if request.cwd is None else request.cwd
    if problem := await anyio.to_thread.run_sync(cwd_problem, workspace.root, cwd):
        return _never(refused(*problem), never)
    whole = context.scratch / f"verify-{secrets.token_hex(6)}.txt"
    command = Command(
        argv,
        workspace.environment(sandbox, check.env),
        cwd=workspace.root / cwd,
        timeout=(request.timeout_ms or check.timeout_ms) / 1000,
        limits=_limits(judge, request),
        # What is judged must be what was written; it is redacted where it is shown.
        redactor=None if judge.judged_bytes else context.redactor,
        sandbox=sandbox,
        offload=None if judge.judged_bytes else whole,
    )
    execution = await run(command, clock=context.clock)
    word = ran(execution)
    judgement = Judgement(Validation.NOT_RUN, Outcome.SUCCESS)
    if word is Ran.SUCCEEDED:
        judgement = await anyio.to_thread.run_sync(judge.judge, execution)
    elif word is Ran.FAILED and execution.cause is None and isinstance(judge, ExitJudge):
        judgement = Judgement(Validation.EXIT_CODE, Outcome.TARGET_FAILED)
    if judge.judged_bytes:
        execution = await anyio.to_thread.run_sync(_shown, execution, context)
    return _result(check, command, execution, word, judgement, detail)


def _judge(root: Path, check: Check, request: Request, context: CallContext, reach: Reach) -> Judge:
    if isinstance(check.rule, PerfRule):
        record = request.record_baseline
        return PerfJudge(root, check, check.rule, context.clock.now, record, reach)
    if request.record_baseline:
        raise NotPrepared("no_baseline", f"{check.id} is no perf-budget check with a baseline")
    if isinstance(check.rule, NumericRule):
        return NumericJudge(root, check.rule, reach)
    return ExitJudge()


def _limits(judge: Judge, request: Request) -> CaptureLimits:
    if judge.judged_bytes:
        kept = Limits(bytes=judge.judged_bytes)
        return CaptureLimits(stdout=kept, stderr=SHOWN_STDERR, stop_after=judge.judged_bytes)
    return CaptureLimits(SHOWN_STDOUT, SHOWN_STDERR, request.max_output_bytes)


def _shown(execution: Execution, context: CallContext) -> Execution:
    """Redact and cut what was kept whole for the judgement."""
    return replace(
        execution,
        stdout=_shown_stream(execution.stdout, SHOWN_STDOUT, context),
        stderr=_shown_stream(execution.stderr, SHOWN_STDERR, context),
    )


def _shown_stream(stream: Captured, limits: Limits, context: CallContext) -> Captured:
    redacted = context.redactor.text(stream.text)
    bounded = bound(redacted.text, limits)
    lost = stream.bytes.discarded + bounded.total_bytes - bounded.kept_bytes
    lost = min(lost, stream.bytes.observed)
    return replace(
        stream,
        text=bounded.text,
        bytes=replace(stream.bytes, kept=stream.bytes.observed - lost, discarded=lost),
        kept_lines=min(stream.kept_lines, bounded.kept_lines),
        redactions=redacted.counts,
        cut=stream.cut or bounded.cut,
    )


def _never(result: Result, detail: Mapping[str, Any]) -> Result:
    return result.with_facts(detail={**result.facts.detail, **detail})


def _result(
    check: Check,
    command: Command,
    execution: Execution,
    word: Ran,
    judgement: Judgement,
    detail: Mapping[str, Any],
) -> Result:
    meaning = classify(execution)
    if word is Ran.SUCCEEDED:
        meaning = Classification(judgement.outcome, judgement.reason)
    facts = process_facts(
        execution,
        meaning,
        _view(execution),
        command=shlex.join(command.argv),
        detail={**detail, **axes(word, judgement.validation), **judgement.detail},
    )
    why = _why(word, meaning) if judgement.validation is Validation.NOT_RUN else ""
    lines = [f"{check.id} ({check.kind})", *axes_lines(word, judgement.validation, why)]
    lines += judgement.lines
    if execution.failure is not None:
        lines.append(execution.failure.message)
    text = "\n".join(lines) + "\n"
    for name, stream in (("output", execution.stdout), ("standard error", execution.stderr)):
        if stream.text:
            joint = "" if text.endswith("\n") else "\n"
            text = f"{text}{joint}\n{name}:\n{stream.text}"
    return Result(meaning.outcome, (Text(text),), facts)


def _why(word: Ran, meaning: Classification) -> str:
    if word is Ran.SUCCEEDED:
        return meaning.reason.replace("_", " ")
    return "what did not end well is not judged"


def _view(execution: Execution) -> View:
    out, err = execution.stdout, execution.stderr
    return View(
        out.bytes.kept + err.bytes.kept,
        out.bytes.observed + err.bytes.observed,
        out.kept_lines + err.kept_lines,
        out.lines + err.lines,
        out.cut or err.cut,
        "" if execution.offloaded is None else f"read {execution.offloaded.path}",
    )
