"""The driver: cases, one after the other, each in a folder of its own, each within a bound."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from truepenny.errors import CouldNotRun

from . import process
from .adapter import Adapter
from .case import DEFAULT_TIMEOUT, Case
from .judge import Finding, Outside, Verdict, judge, short, verdict
from .observed import Observed

GRACE = 10.0
"""Seconds beyond what a case allows after which a call counts as hung and the tool is ended."""

ABORT_GRACE = 15.0
"""Seconds a tool may take to let go of a call that was taken back."""

LEFTOVER_SECONDS = 3.0
"""How long after the answer a process may still be on its way out."""

LOOK_AGAIN = 0.05
"""Seconds between two looks at the processes."""

MODE = 0o755
"""Of the folder of a case: the tool may run commands as another account."""

USABLE = "usable"

Started = Callable[[int, int, Case], None]
"""Told before each case: its place (from 1), how many there are, the case."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One case with what became of it. `reason` says why it was not run."""

    case: Case
    verdict: Verdict
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    reason: str = ""


async def run(
    cases: Sequence[Case],
    adapter: Adapter,
    folder: Path,
    started: Started = lambda number, count, case: None,
) -> list[Trial]:
    """Run the cases with an opened adapter. `folder` is private to this run and outlives it.

    Raises CouldNotRun where the tool does not run the simplest command: a table of what it would
    then fail says nothing about it.
    """
    await _first_call(adapter, folder / "first-call")
    trials: list[Trial] = []
    for number, case in enumerate(cases, 1):
        started(number, len(cases), case)
        trials.append(await _run(case, adapter, folder / case.id))
    return trials


async def _first_call(adapter: Adapter, work: Path) -> None:
    _make(work)
    await adapter.prepare(work)
    with anyio.move_on_after(DEFAULT_TIMEOUT + GRACE):
        seen = await adapter.call(f"echo {USABLE}", timeout=DEFAULT_TIMEOUT, work=work)
        if USABLE in seen.text and not seen.flagged:
            return
        raise CouldNotRun(
            f"does not run `echo {USABLE}`: {short(seen.died or seen.text)}",
            where=adapter.name,
            remedy="Check how it has to be started and which commands it allows.",
        )
    raise CouldNotRun(f"does not answer `echo {USABLE}`", where=adapter.name)


async def _run(case: Case, adapter: Adapter, work: Path) -> Trial:
    missing = [program for program in case.needs if shutil.which(program) is None]
    if missing:
        return Trial(case, Verdict.NOT_RUN, reason=f"no {', '.join(missing)} here")
    if case.timeout is not None and not adapter.takes_timeout:
        finding = Finding("timeout", Verdict.NOT_TOLD, f"{case.timeout:g} s", "takes no time limit")
        return Trial(case, Verdict.NOT_TOLD, findings=(finding,))
    nap = _nap()
    case = _filled(case, nap, work)
    _lay_out(case, work)
    try:
        await adapter.prepare(work)
        began = time.monotonic()
        seen = await _call(case, adapter, work)
        seconds = time.monotonic() - began
        left = await _left(nap) if case.expect.no_process_left else ()
        usable = await _usable(adapter, work) if case.expect.usable_after else None
        findings = judge(case, seen, Outside(seconds, left, work, usable))
        return Trial(case, verdict(findings), seconds, findings)
    finally:
        process.end(nap)
        shutil.rmtree(work, ignore_errors=True)


def _make(folder: Path) -> None:
    """Make a folder that every account may enter, whatever the umask is."""
    folder.mkdir(mode=MODE)
    folder.chmod(MODE)


def _lay_out(case: Case, work: Path) -> None:
    """Make the folder of a case with its files."""
    _make(work)
    for file in case.files:
        path = work / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.text.encode())
        path.chmod(int(file.mode, 8))


async def _call(case: Case, adapter: Adapter, work: Path) -> Observed | None:
    """Return what the tool said; None where the call was taken back as the case wants."""
    if case.abort_after is None:
        # What comes after `ended_within` has failed anyway; nobody waits longer for it.
        bound = GRACE + (case.timeout or case.expect.ended_within or case.limit)
        with anyio.move_on_after(bound) as scope:
            return await adapter.call(case.command, timeout=case.limit, work=work)
        if scope.cancelled_caught:
            return Observed(died=f"no answer within {bound:g} s")
    else:
        with anyio.move_on_after(case.abort_after):
            return await adapter.call(case.command, timeout=case.limit, work=work)
    return None


async def _left(nap: str) -> tuple[str, ...]:
    """Return the marked processes that are still there after a moment."""
    deadline = time.monotonic() + LEFTOVER_SECONDS
    while left := process.marked(nap):
        if time.monotonic() > deadline:
            return tuple(left.values())
        await anyio.sleep(LOOK_AGAIN)
    return ()


async def _usable(adapter: Adapter, work: Path) -> bool:
    with anyio.move_on_after(ABORT_GRACE):
        seen = await adapter.call(f"echo {USABLE}", timeout=ABORT_GRACE, work=work)
        return USABLE in seen.text
    return False


def _nap() -> str:
    """Return a number of seconds that is nobody else's: a minute, and digits for one run alone."""
    return f"6{random.randrange(10)}.{random.randrange(10**9):09d}7"


def _filled(case: Case, nap: str, work: Path) -> Case:
    def text(value: str) -> str:
        return value.replace("@NAP@", nap).replace("@WORK@", str(work))

    def words(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(text, values))

    expect = case.expect.model_copy(
        update={
            name: words(getattr(case.expect, name))
            for name in (
                "output_contains", "output_lacks", "output_order", "stdout_contains",
                "stderr_contains", "text_contains", "text_lacks",
            )
        }
    )  # fmt: skip
    files = tuple(file.model_copy(update={"text": text(file.text)}) for file in case.files)
    command = text(case.command).replace("@PAD@", "x" * case.pad)
    return case.model_copy(update={"command": command, "expect": expect, "files": files})
