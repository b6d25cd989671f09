"""The manifest of a run, version 1: what ran, with what, how it ended (tools spec 2.11).

Values of variables are never in it. Arguments are, redacted: a secret on a command line that no
rule knows stays readable there, as it is for everybody on the machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from truepenny.execute.ending import Cause, ExitFact
from truepenny.execute.execution import Execution
from truepenny.system.atomic import Published, publish
from truepenny.text.bound import Limits, bound

VERSION = 1

MANIFEST_BYTES = 64 * 1024
"""No manifest is larger: a sweep reads no more of it."""

_ARGUMENT_BYTES = 256
_ENTRIES = 16
"""What stays of long arguments and long lists in a manifest that would be larger."""


class RunOutcome(StrEnum):
    """How a run ended; the first that holds, in this order."""

    ABORTED = "aborted"
    TIMED_OUT = "timed-out"
    PIPE_DRAIN_INCOMPLETE = "pipe-drain-incomplete"
    """A process it left behind still held its output: the logs may be short of something."""
    FAILED = "failed"
    SPAWN_FAILED = "spawn-failed"
    CLEANUP_INCOMPLETE = "cleanup-incomplete"
    """Something that it left behind could not be ended."""
    SUCCEEDED = "succeeded"


def run_outcome(execution: Execution | None, *, sink_problem: str = "") -> RunOutcome:
    """Return how it ended. No execution means that it was aborted.

    `sink_problem` says why a log is not whole.
    """
    if execution is None or execution.cause is Cause.ABORT:
        return RunOutcome.ABORTED
    if execution.cause is Cause.TIMEOUT:
        return RunOutcome.TIMED_OUT
    # At the limit of output reading stops, which is no fault of a pipe's.
    if not execution.drained and execution.cause is not Cause.OUTPUT_CAP:
        return RunOutcome.PIPE_DRAIN_INCOMPLETE
    if sink_problem:
        return RunOutcome.FAILED
    if execution.failure is not None:
        return RunOutcome.SPAWN_FAILED
    if execution.survivors:
        return RunOutcome.CLEANUP_INCOMPLETE
    clean = execution.exit.effective == 0 and execution.cause is None
    return RunOutcome.SUCCEEDED if clean else RunOutcome.FAILED


def effective_exit(exit: ExitFact, outcome: RunOutcome) -> ExitFact:
    """Return the exit with its meaning: zero of the leader alone is no success of the run."""
    if outcome is RunOutcome.SUCCEEDED or exit.effective != 0:
        return exit
    return ExitFact(exit.observed, 1, exit.signal, exit.stages)


def publish_manifest(path: Path, manifest: Mapping[str, Any]) -> Published:
    """Write it whole, within its limit. Raises StorageFailed."""
    return publish(path, encode(manifest))


def encode(manifest: Mapping[str, Any]) -> bytes:
    """Return its JSON. What would make it too large is shortened, and says so."""
    data = _json(manifest)
    if len(data) <= MANIFEST_BYTES:
        return data
    shortened: Any = {name: _shorter(value) for name, value in manifest.items()}
    shortened["shortened"] = True
    return _json(shortened)


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8") + b"\n"


def _shorter(value: Any) -> Any:
    if isinstance(value, str):
        return bound(value, Limits(bytes=_ARGUMENT_BYTES)).text
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return {name: _shorter(inner) for name, inner in entries.items()}
    if isinstance(value, list | tuple):
        items = list(cast("list[Any]", value))
        kept = [_shorter(inner) for inner in items[:_ENTRIES]]
        if missing := len(items) - len(kept):
            kept.append(f"[{missing} more]")
        return kept
    return value
