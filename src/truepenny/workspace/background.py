"""What the tools say about a command in the background: one account for start, look and stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truepenny.execute.background.record import State
from truepenny.execute.background.runs import BackgroundRun, BackgroundRuns, UnknownRun
from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification
from truepenny.execute.shell import classify_line
from truepenny.system.clock import timestamp
from truepenny.tool.contract import CallContext
from truepenny.tool.process_facts import View, process_facts
from truepenny.tool.result import Completeness, Facts, Result, invalid

LABEL_BYTES = 4096
"""Of a longer line the registry keeps no more; the whole one is in the arguments of the call."""


def owner(context: CallContext) -> str:
    """Return whose runs a call may see: those of its own user in its own session."""
    return f"{context.user}/{context.session}"


def find(runs: BackgroundRuns, id: str, context: CallContext) -> BackgroundRun | Result:
    """Return the run, or that there is none: the same answer for somebody else's as for none."""
    try:
        return runs.get(owner(context), id)
    except UnknownRun:
        known = ", ".join(run.id for run in runs.all(owner(context)))
        return invalid(
            "unknown_run",
            f"there is no background run {id!r}",
            f"known: {known}" if known else "nothing was started in the background",
        )


def meaning_of(run: BackgroundRun) -> Classification:
    """Return what it came to so far. A look at one that still runs is no failure."""
    if run.state is State.RUNNING:
        return Classification(Outcome.SUCCESS, "still_running")
    if run.execution is None:
        return Classification(Outcome.INTERNAL_ERROR, "lost_sight_of_it")
    # Not by the label, which may be cut: what is missing may have been a comment or a quote.
    return classify_line(run.execution, run.argv[-1])


def facts_of(run: BackgroundRun, view: View, sizes: ByteCounts) -> Facts:
    """Return the facts of a look at it. `detail` has `background`: id, state, started_at, path."""
    background = {
        "id": run.id,
        "state": str(run.state),
        "started_at": timestamp(run.started_at),
        "path": str(run.path),
    }
    if run.problem:
        background["problem"] = run.problem
    detail: dict[str, Any] = {"background": background}
    meaning = meaning_of(run)
    execution = run.execution
    if execution is None:
        execution = Execution(containment=run.containment)
        facts = process_facts(execution, meaning, view, command=run.label)
        state = "it still runs" if run.state is State.RUNNING else "its end was not seen"
        whole = Completeness("partial", state, "bytes", view.kept, None, view.next)
        # Nothing of the process was observed yet: no exit, no streams.
        return Facts(
            completeness=whole,
            bytes=sizes,
            sandbox=facts.sandbox,
            containment=facts.containment,
            reason=meaning.reason,
            command=facts.command,
            detail=detail,
        )
    found = process_facts(execution, meaning, view, command=run.label, detail=detail)
    return replace(found, bytes=sizes)


def state_line(run: BackgroundRun) -> str:
    """Return one line for people and models: where it is, and how it ended."""
    if run.state is State.RUNNING:
        return f"{run.id}: running since {timestamp(run.started_at)}"
    execution = run.execution
    if execution is None:
        return f"{run.id}: {run.state}; how it ended was not seen"
    if execution.failure is not None:
        return f"{run.id}: {run.state}; {execution.failure.message}"
    words = [str(run.state)]
    if execution.cause is not None:
        words.append(f"cause {execution.cause}")
    if execution.exit.signal is not None:
        words.append(f"signal {execution.exit.signal}")
    else:
        code = execution.exit.observed
        words.append(f"exit {'unknown' if code is None else code}")
    return f"{run.id}: {', '.join(words)} after {execution.duration:.1f} s"
