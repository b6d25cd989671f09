"""From the account of a process to the facts of a result: the one way for every tool that runs one.

What matters is twice there: typed in `Facts`, and as a sentence for who reads (`remarks`), which
goes into the notes of the facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from truepenny.errors import TruepennyError
from truepenny.execute.ending import ByteCounts, Cause, Leg, Outcome
from truepenny.execute.execution import Execution, StartFault
from truepenny.execute.outcome import Classification
from truepenny.model.message import Text
from truepenny.sandbox.level import Level
from truepenny.text.bound import Limits, bound

from .result import NEVER_RAN, Completeness, Facts, Result

COMMAND_BYTES = 1024
"""Of a long command no more is told; all of it is in the arguments of the call."""

_STOPPED = {
    Cause.TIMEOUT: "stopped at the time limit",
    Cause.OUTPUT_CAP: "stopped at the limit of output",
    Cause.MEMORY: "the kernel ended it for memory",
    Cause.ABORT: "the call was stopped",
    Cause.SIGNAL: "ended by a signal",
}


@dataclass(frozen=True, slots=True)
class View:
    """How much of the output a result shows. Bytes and lines count the decoded, redacted text of
    both streams together. `next` is how to get the rest, ready to paste."""

    kept: int
    total: int
    shown_lines: int
    total_lines: int
    cut: bool = False
    next: str = ""


def process_facts(
    execution: Execution,
    meaning: Classification,
    view: View,
    *,
    command: str = "",
    notes: tuple[str, ...] = (),
    detail: Mapping[str, Any] | None = None,
) -> Facts:
    """Return the facts. `command` is what ran, as a person could run it; `notes` come first, and
    the remarks on the execution after them.

    `detail` gets, where there is something to tell: `streams` (bytes and lines of each), `drained`
    false, `leftovers` (None: uncounted), `memory_kill` true, `survivors`, `bad_bytes`, `controls`;
    what the caller gives goes on top.
    """
    out, err = execution.stdout, execution.stderr
    redactions = {
        rule: out.redactions.get(rule, 0) + err.redactions.get(rule, 0)
        for rule in {*out.redactions, *err.redactions}
    }
    held = execution.containment
    return Facts(
        duration=execution.duration,
        completeness=_completeness(execution, view),
        redactions=redactions,
        bytes=_bytes(execution, view),
        sandbox=str(held.level),
        containment=held.facts(),
        exit=None if execution.failure is not None else execution.exit,
        cause=execution.cause,
        leg=_leg(execution, meaning),
        reason=meaning.reason,
        command=bound(command, Limits(bytes=COMMAND_BYTES)).text,
        notes=tuple(dict.fromkeys((*notes, *remarks(execution)))),
        detail={**_detail(execution), **(detail or {})},
    )


def remarks(execution: Execution) -> tuple[str, ...]:
    """Return what a reader of the output must know, one sentence each."""
    said: list[str] = []
    if execution.leftovers is None:
        said.append("whatever it may have left behind ended with it, uncounted")
    elif execution.leftovers:
        count = execution.leftovers
        said.append(f"{count} process{'es' * (count > 1)} left behind in the background: ended")
    if execution.memory_kill and execution.cause is not Cause.MEMORY:
        said.append("the kernel ended a process of this run for memory")
    if execution.survivors:
        numbers = ", ".join(map(str, execution.survivors))
        said.append(f"not even a kill ended these processes: {numbers}")
    if not execution.drained and execution.cause is not Cause.OUTPUT_CAP:
        said.append("a process that it left behind kept the output open: some may be missing")
    for name, stream in (("", execution.stdout), (" of standard error", execution.stderr)):
        if stream.bad_count:
            first, many = stream.bad_bytes[0].offset, stream.bad_count
            found = f"1 byte{name} is" if many == 1 else f"{many} bytes{name} are"
            said.append(f"{found} not UTF-8, the first at {first}: shown as \\xNN")
    if controls := execution.stdout.controls + execution.stderr.controls:
        found = (
            "1 control character was" if controls == 1 else f"{controls} control characters were"
        )
        said.append(f"{found} dropped or shown as \\uXXXX")
    file = execution.offloaded
    if file is not None and not file.complete:
        why = file.problem or "that is the most that one run may leave"
        said.append(f"{file.path} has the first {file.bytes} bytes of the output alone: {why}")
    said += execution.remarks
    return tuple(said)


def not_started(execution: Execution, meaning: Classification, command: str = "") -> Result:
    """Return the result of an execution whose process never began."""
    failure = execution.failure
    message = "it did not start" if failure is None else failure.message
    nothing = View(0, 0, 0, 0)
    facts = process_facts(execution, meaning, nothing, command=command)
    return Result(meaning.outcome, (Text(message),), replace(facts, hint=_start_hint(execution)))


def _start_hint(execution: Execution) -> str:
    """Return what to do about a program that is not there; other faults have no one remedy."""
    failure = execution.failure
    if failure is None:
        return ""
    if failure.fault is StartFault.MISSING_INTERPRETER:
        return "correct the first line of the script, or install the program that it names"
    if failure.fault is not StartFault.MISSING_PROGRAM:
        return ""
    if execution.containment.level is Level.NONE:
        return "install it, or name one that is there"
    return "install it for the whole machine; `truepenny sandbox` lists the folders that are seen"


def not_contained(error: TruepennyError, command: str = "") -> Result:
    """Return the result of a run that no sandbox could be made for: nothing ran."""
    facts = Facts(
        completeness=NEVER_RAN,
        leg=Leg.NAMESPACE_ENTRY,
        reason=StartFault.SANDBOX.value,
        hint=error.remedy,
        command=bound(command, Limits(bytes=COMMAND_BYTES)).text,
    )
    where = f"{error.where}: " if error.where else ""
    return Result(Outcome.CHANNEL_FAILED, (Text(f"{where}{error.message}"),), facts)


def _completeness(execution: Execution, view: View) -> Completeness:
    if execution.failure is not None:
        return NEVER_RAN
    reason = ""
    if execution.cause is not None:
        reason = _STOPPED[execution.cause]
    elif not execution.drained:
        return Completeness(
            "unknown",
            "a process it left behind kept the output open",
            "lines",
            view.shown_lines,
            next=view.next,
        )
    if view.cut:
        reason = f"{reason}; some is left out" if reason else "some of the output is left out"
    if not reason:
        return Completeness()
    total = None if execution.cause is not None else view.total_lines
    return Completeness("partial", reason, "lines", view.shown_lines, total, view.next)


def _bytes(execution: Execution, view: View) -> ByteCounts:
    observed = execution.stdout.bytes.observed + execution.stderr.bytes.observed
    lost = min(max(view.total - view.kept, 0), observed)
    file = execution.offloaded
    if file is None:
        return ByteCounts(observed, observed - lost, lost)
    inside = lost if file.complete else min(lost, max(file.bytes - view.kept, 0))
    path = file.path if inside else ""
    return ByteCounts(observed, observed - lost, lost - inside, inside, path)


def _leg(execution: Execution, meaning: Classification) -> Leg | None:
    failure = execution.failure
    if failure is not None and failure.fault is StartFault.SANDBOX:
        return Leg.NAMESPACE_ENTRY
    return meaning.leg


def _detail(execution: Execution) -> dict[str, Any]:
    out, err = execution.stdout, execution.stderr
    detail: dict[str, Any] = {}
    if execution.failure is None:
        detail["streams"] = {
            "stdout": {"bytes": out.bytes.observed, "lines": out.lines},
            "stderr": {"bytes": err.bytes.observed, "lines": err.lines},
        }
    if not execution.drained:
        detail["drained"] = False
    if execution.leftovers != 0:
        detail["leftovers"] = execution.leftovers
    if execution.memory_kill:
        detail["memory_kill"] = True
    if execution.survivors:
        detail["survivors"] = list(execution.survivors)
    if bad := (*out.bad_bytes, *err.bad_bytes):
        detail["bad_bytes"] = [{"offset": one.offset, "hex": one.data.hex()} for one in bad]
    if controls := out.controls + err.controls:
        detail["controls"] = controls
    if execution.offloaded is not None and execution.offloaded.problem:
        detail["offload_problem"] = execution.offloaded.problem
    return detail
