"""The registry of background runs of one session host: start, look, stop, and end them all.

Each run ends once: whoever decides first, its own end or a stop, decides the state, the event and
the one call of `on_end`. A run belongs to an owner; another owner's id is an unknown one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Self

import anyio
from anyio.abc import TaskGroup

from truepenny.errors import CouldNotRun, StorageFailed, UsageError
from truepenny.execute.command import Command
from truepenny.execute.execution import Execution, StartFailure
from truepenny.execute.process import Running, begin
from truepenny.sandbox.level import Containment
from truepenny.system.atomic import storage_failed
from truepenny.system.clock import Clock, SystemClock, timestamp
from truepenny.system.directories import ensure
from truepenny.system.ids import Ids, RandomIds
from truepenny.system.lock_record import LockRecord
from truepenny.text.redact import Redactor

from .output import OUTPUT_BYTES, READ_BYTES, OutputFile, Reading, read_part, read_tail
from .record import Record, State, read_record

KEPT_SECONDS = 24 * 3600
"""How long the files of a run stay after its runtime died: a person looks the next morning."""

KEPT_RUNS = 200
"""Ended runs that are kept with their files while the runtime lives; the oldest go first."""

_NAME = re.compile(r"(run_[0-9a-z]+)\.(?:json|output)")


class TooManyRuns(CouldNotRun):
    """The limit of background runs is reached; nothing was started."""


class UnknownRun(UsageError):
    """No run of this owner has that id."""


@dataclass(slots=True, eq=False)
class BackgroundRun:
    """One run. `execution` is None until the end, and for one that our own fault ended.

    `path` is the output file. `containment` is what holds it while it runs; afterwards the
    execution says what did. `ended` is set once, after `state` and `execution` are final. `argv`
    is what was started, whole and as it was given: what an end means is judged by it, and it is
    never shown. `label` is for showing.
    """

    id: str
    owner: str
    label: str
    started_at: datetime
    path: Path
    argv: tuple[str, ...] = ()
    state: State = State.RUNNING
    execution: Execution | None = None
    problem: str = ""
    containment: Containment = field(default_factory=Containment)
    ended: anyio.Event = field(default_factory=anyio.Event)


class _Live:
    """A run of ours with what drives it."""

    def __init__(self, run: BackgroundRun, output: OutputFile) -> None:
        self.run = run
        self.output = output
        self.running: Running | None = None


class BackgroundRuns:
    """The registry, used as `async with`: leaving it ends every run and waits for that.

    `directory` is private to this user and made where it is missing. `limit` counts living runs
    of all owners. `on_end` is called once for each run, in the task that drove it; what it raises
    is noted in `problem`.
    """

    def __init__(
        self,
        directory: Path,
        limit: int,
        *,
        on_end: Callable[[BackgroundRun], None] | None = None,
        output_bytes: int = OUTPUT_BYTES,
        ids: Ids | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.directory = directory
        self._limit = limit
        self._on_end = on_end
        self._output_bytes = output_bytes
        self._ids = ids or RandomIds()
        self._clock = clock or SystemClock()
        self._live: dict[str, _Live] = {}
        self._tasks: TaskGroup | None = None
        self._runtime = LockRecord.mine("background")

    async def __aenter__(self) -> Self:
        """Open it and sweep what dead runtimes left. Raises StorageFailed."""
        ensure(self.directory)
        try:
            sweep(self.directory, self._clock.now())
        except OSError as error:
            raise storage_failed(error, self.directory, "Listing the background runs") from error
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        tasks, self._tasks = self._tasks, None
        if tasks is None:
            return
        for live in self._live.values():
            if live.running is not None:
                live.running.stop()
        # All of them end by now, or are cancelled with us: an error of the body is not theirs.
        await tasks.__aexit__(None, None, None)

    def start(
        self, command: Command, *, owner: str, label: str, structural: bool = False
    ) -> BackgroundRun:
        """Start a run now; one that cannot start is returned as failed.

        The output is redacted as it streams, line by line. `structural` says that it would need a
        redactor that sees a whole document: refused (UsageError). Raises TooManyRuns, and
        StorageFailed where its files cannot be made.
        """
        if self._tasks is None:
            raise CouldNotRun("the background runs are closed")
        if structural:
            raise UsageError(
                "this output can only be redacted as a whole document, not as it streams",
                remedy="Run it in the foreground.",
            )
        if self._limit == 0:
            raise TooManyRuns(
                "no command may run in the background here", remedy="Run it in the foreground."
            )
        living = sum(one.run.state is State.RUNNING for one in self._live.values())
        if living >= self._limit:
            raise TooManyRuns(
                f"{living} commands run in the background and no more than {self._limit} may",
                remedy="Wait for one or stop one (task_output lists them), or use the foreground.",
            )
        self._drop_oldest()
        redactor = command.redactor or Redactor()
        live = self._prepare(owner, redactor.text(label).text, command.argv)
        try:
            self._publish(live)
            running = begin(replace(command, redactor=redactor), live.output.feed)
        except BaseException:
            live.output.close()
            self._remove(live)
            raise
        if isinstance(running, StartFailure):
            self._finish(live, State.FAILED, Execution(failure=running))
        else:
            live.running = running
            live.run.containment = running.containment
            self._tasks.start_soon(self._drive, live, running)
        return live.run

    def get(self, owner: str, id: str) -> BackgroundRun:
        """Return a run of this owner. Raises UnknownRun."""
        return self._find(owner, id).run

    def all(self, owner: str) -> tuple[BackgroundRun, ...]:
        """Return the runs of this owner, oldest first."""
        return tuple(live.run for live in self._live.values() if live.run.owner == owner)

    async def stop(self, owner: str, id: str) -> BackgroundRun:
        """Ask a run to end, wait for its end and return it; one that has ended stays as it is."""
        live = self._find(owner, id)
        if live.running is not None:
            live.running.stop()
        await live.run.ended.wait()
        return live.run

    def read(self, owner: str, id: str, offset: int = 0, limit: int = READ_BYTES) -> Reading:
        """Return output from a byte offset; `next` is where to go on. Raises StorageFailed."""
        live = self._find(owner, id)
        begun = live.run.state is State.RUNNING
        text, end, size = _read(live.output, lambda path: read_part(path, offset, limit))
        output = live.output
        return Reading(text, min(offset, size), end, size, output.cut, output.problem, begun)

    def tail(self, owner: str, id: str, lines: int) -> Reading:
        """Return the last lines of the output so far. Raises StorageFailed."""
        live = self._find(owner, id)
        begun = live.run.state is State.RUNNING
        text, start, size = _read(live.output, lambda path: read_tail(path, lines))
        return Reading(text, start, size, size, live.output.cut, live.output.problem, begun)

    def _drop_oldest(self) -> None:
        ended = [live for live in self._live.values() if live.run.state is not State.RUNNING]
        for live in ended[: max(0, len(ended) - KEPT_RUNS + 1)]:
            self._remove(live)

    def _remove(self, live: _Live) -> None:
        del self._live[live.run.id]
        for path in (live.run.path, live.run.path.with_suffix(".json")):
            with suppress(OSError):
                path.unlink()

    def _find(self, owner: str, id: str) -> _Live:
        live = self._live.get(id)
        if live is None or live.run.owner != owner:
            raise UnknownRun(f"there is no background run {id}")
        return live

    def _prepare(self, owner: str, label: str, argv: tuple[str, ...]) -> _Live:
        id = self._ids.new("run")
        path = self.directory / f"{id}.output"
        try:
            output = OutputFile(path, self._output_bytes)
        except OSError as error:
            raise storage_failed(error, path, "Making the output file") from error
        live = _Live(BackgroundRun(id, owner, label, self._clock.now(), path, argv), output)
        self._live[id] = live
        return live

    async def _drive(self, live: _Live, running: Running) -> None:
        state, execution, problem = State.FAILED, None, ""
        try:
            execution = await running.supervise()
            state = State.STOPPED if running.stopped else State.EXITED
        except Exception as error:
            # Its processes are ended by now. One run that breaks must not end the others.
            problem = f"{type(error).__name__}: {error}"
        except BaseException:
            state = State.STOPPED
            raise
        finally:
            self._finish(live, state, execution, problem)

    def _finish(
        self, live: _Live, state: State, execution: Execution | None, problem: str = ""
    ) -> None:
        run = live.run
        live.output.close()
        live.running = None
        run.execution, run.problem = execution, problem or live.output.problem
        run.state = state
        # The record is for others; without room on the disk this process still knows.
        with suppress(CouldNotRun):
            self._publish(live)
        run.ended.set()
        if self._on_end is None:
            return
        try:
            self._on_end(run)
        except Exception as error:
            # A listener that breaks must not end the other runs.
            run.problem = run.problem or f"on_end failed: {type(error).__name__}: {error}"

    def _publish(self, live: _Live) -> None:
        run, execution = live.run, live.run.execution
        ended = run.state is not State.RUNNING
        Record(
            id=run.id,
            owner=run.owner,
            label=run.label,
            state=run.state,
            started_at=timestamp(run.started_at),
            ended_at=timestamp(self._clock.now()) if ended else "",
            exit=None if execution is None else execution.exit.observed,
            signal=None if execution is None else execution.exit.signal,
            cause="" if execution is None else str(execution.cause or ""),
            cut=live.output.cut,
            runtime=self._runtime,
        ).write(run.path.with_suffix(".json"))


def _read(output: OutputFile, read: Callable[[Path], tuple[str, int, int]]) -> tuple[str, int, int]:
    """Read what was written, or raise StorageFailed: what another put there is no output."""
    try:
        found = read(output.path)
        intact = output.intact()
    except OSError as error:
        raise storage_failed(error, output.path, "Reading the output") from error
    if not intact:
        raise StorageFailed(
            "the output file was changed by somebody else: what is there is not what was written",
            where=str(output.path),
            remedy="Run the command again, and leave the file alone.",
        )
    return found


def sweep(directory: Path, now: datetime) -> int:
    """Remove runs whose runtime is proven dead and whose files are a day old; return how many.

    Only regular files of this user with a readable record and its output; anything else stays.
    Raises OSError where the directory cannot be listed.
    """
    removed = 0
    for name in sorted(os.listdir(directory)):
        match = _NAME.fullmatch(name)
        if match is None or not name.endswith(".json"):
            continue
        path = directory / name
        with suppress(OSError):
            record = read_record(path)
            age = now.timestamp() - path.lstat().st_mtime
            if record is None or record.id != match.group(1) or not record.runtime.proven_dead:
                continue
            if age < KEPT_SECONDS:
                continue
            output = path.with_suffix(".output")
            with suppress(FileNotFoundError):
                if stat.S_ISREG(output.lstat().st_mode):
                    output.unlink()
            path.unlink()
            removed += 1
    return removed
