"""Running one process: it ends, or it is ended, and nothing that came of it stays behind.

The end is seen by the process id, not by its pipes: a background child that keeps a pipe open
costs `DRAIN_SECONDS` and a fact, never a hang (spec/field.md B1). Where nobody of the run lives
any more nothing is waited for. Output goes through pipes and not through files: what a process
prints is redacted before it reaches a disk, a process that writes too fast is held back by a full
pipe, and one read after the end takes all that it left there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import anyio

from truepenny.sandbox.level import Containment
from truepenny.system.clock import Clock, SystemClock

from .capture import Capture, Captured
from .child import Child
from .command import Command
from .ending import Cause, ExitFact
from .execution import Execution
from .offload import Offload
from .start import Started, StartFailure, give_up, start
from .start_verdict import failed_inside

DRAIN_SECONDS = 1.0
"""How long output may still come after the process ended, while another holds its pipe."""

DYING_SECONDS = 0.1
"""How long a pipe may stay open after the last process of the run was seen: the kernel's part of
its end takes a few milliseconds."""

READ_BYTES = 64 * 1024
"""One read: the size of a pipe on Linux."""

Stream = Literal["stdout", "stderr"]

OnOutput = Callable[[Stream, str], None]
"""Takes text as it becomes certain: decoded, redacted, not cut. It returns quickly, or it delays
the reading; what it raises ends the process and propagates in an exception group."""


async def run(
    command: Command, *, on_output: OnOutput | None = None, clock: Clock | None = None
) -> Execution:
    """Run it to its end and return the account; a failed start is an account too.

    Cancelling the surrounding scope ends all processes of the run before it propagates.
    """
    clock = clock or SystemClock()
    began = clock.monotonic()
    running = begin(command, on_output)
    if isinstance(running, StartFailure):
        return Execution(failure=running, duration=clock.monotonic() - began)
    execution = await running.supervise()
    return replace(execution, duration=clock.monotonic() - began)


def begin(command: Command, on_output: OnOutput | None = None) -> Running | StartFailure:
    """Start it now, for a caller that supervises it later: at once, or it runs unwatched."""
    started = start(command)
    if isinstance(started, StartFailure):
        return started
    try:
        return Running(command, started, on_output)
    except BaseException:
        give_up(started)
        raise


class Running:
    """A started process. `supervise` it exactly once; `stop` may be called from any task."""

    def __init__(self, command: Command, started: Started, on_output: OnOutput | None) -> None:
        self._command = command
        self._started = started
        self._child = Child(started)
        self._on_output = on_output
        self._open = {started.stdout, started.stderr}
        if started.stdin is not None:
            self._open.add(started.stdin)
        self._captures: dict[Stream, Capture] = {
            "stdout": Capture(command.limits.stdout, command.redactor),
            "stderr": Capture(command.limits.stderr, command.redactor),
        }
        self._offload = None if command.offload is None else Offload(command.offload)
        self._unread: set[Stream] = {"stdout", "stderr"}
        self._all_read = anyio.Event()
        self._over = anyio.Event()
        self._cause: Cause | None = None
        self._stdin_taken = 0

    @property
    def pid(self) -> int:
        """The process id of what was started, behind whatever words of a sandbox."""
        return self._started.pid

    def stop(self) -> None:
        """End it, as an abort; nothing happens to one that has ended by then."""
        self._end_for(Cause.ABORT)

    @property
    def containment(self) -> Containment:
        """What holds it, as far as is known before its end."""
        confinement = self._started.confinement
        return Containment() if confinement is None else confinement.containment

    @property
    def stopped(self) -> bool:
        """Whether `stop` ended it, and not its own end or one of its limits."""
        return self._cause is Cause.ABORT

    async def supervise(self) -> Execution:
        """Read, wait, end and account for it."""
        try:
            return await self._supervise()
        except BaseException:
            if self._offload is not None:
                self._offload.abandon()
            raise

    async def _supervise(self) -> Execution:
        started, child, everything = self._started, self._child, False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, started.stdout, "stdout")
                tasks.start_soon(self._read, started.stderr, "stderr")
                if started.stdin is not None:
                    tasks.start_soon(self._feed, started.stdin, self._command.stdin or b"")
                tasks.start_soon(self._watch)
                with anyio.move_on_after(self._command.timeout):
                    await self._over.wait()
                if not self._over.is_set():
                    self._end_for(Cause.TIMEOUT)
                if self._cause is not None:
                    await child.end()
                if self._cause is not Cause.OUTPUT_CAP:
                    await self._drain()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                everything = await child.end()
            survivors = () if everything else tuple(child.living())
            memory = self._let_go()
        out, out_text = self._finish("stdout")
        err, err_text = self._finish("stderr")
        if self._cause not in (None, Cause.OUTPUT_CAP) and not child.by_us:
            self._cause = None  # It had ended by itself before our signal.
        execution = Execution(
            exit=self._child.status,
            cause=self._why(self._child.status, memory=memory),
            stdout=out,
            stderr=err,
            drained=not self._unread,
            leftovers=child.leftovers,
            survivors=survivors,
            memory_kill=memory,
            stdin_taken=self._stdin_taken,
        )
        self._emit("stdout", out_text)
        self._emit("stderr", err_text)
        if self._offload is not None:
            execution = self._offload.settle(execution)
        if started.confinement is not None:
            execution = failed_inside(self._command, started.confinement, execution)
        return execution

    def _why(self, status: ExitFact, *, memory: bool) -> Cause | None:
        if self._cause is not None:
            return self._cause
        if memory and (status.observed != 0):
            return Cause.MEMORY
        return Cause.SIGNAL if status.signal is not None else None

    def _end_for(self, cause: Cause) -> None:
        """Decide once what ends it; the first of end, time, cap and stop wins."""
        if not self._over.is_set():
            self._cause = cause
            self._over.set()

    async def _watch(self) -> None:
        await self._child.ended()
        self._over.set()

    async def _drain(self) -> None:
        """Take what is in the pipes; wait for more only while somebody may still write."""
        if self._all_read.is_set():
            return
        if self._child.living():
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._all_read.wait()
            return
        # Nobody of the run holds the other end: a read now takes all that it wrote. Whoever else
        # may hold it is none of ours, and waiting for it would prove nothing.
        for stream in tuple(self._unread):
            while self._read_once(self._descriptor(stream), stream):
                pass
        # One that is just being killed has let go of its memory, which we know it by, before it
        # lets go of its files.
        with anyio.move_on_after(DYING_SECONDS):
            await self._all_read.wait()

    def _descriptor(self, stream: Stream) -> int:
        return self._started.stdout if stream == "stdout" else self._started.stderr

    async def _read(self, descriptor: int, stream: Stream) -> None:
        while stream in self._unread and self._cause is not Cause.OUTPUT_CAP:
            await anyio.wait_readable(descriptor)
            self._read_once(descriptor, stream)

    def _read_once(self, descriptor: int, stream: Stream) -> bool:
        """Read what is there; return whether there may be more."""
        if stream not in self._unread or self._cause is Cause.OUTPUT_CAP:
            return False
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._unread.discard(stream)
            if not self._unread:
                self._all_read.set()
            return False
        self._emit(stream, self._captures[stream].feed(data))
        cap = self._command.limits.stop_after
        if cap is not None and sum(c.observed for c in self._captures.values()) > cap:
            # Left unread from here on: it never counts as drained. It is a cut even where the
            # process has ended meanwhile.
            self._cause = Cause.OUTPUT_CAP
            self._over.set()
        return True

    async def _feed(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            await anyio.wait_writable(descriptor)
            try:
                written = os.write(descriptor, view[:READ_BYTES])
            except BlockingIOError:
                continue
            except BrokenPipeError:
                break  # It reads no more; how much it took is a fact.
            self._stdin_taken += written
            view = view[written:]
        self._close(descriptor)  # The process waits for the end of its input.

    def _let_go(self) -> bool:
        """Give everything back; return whether the kernel killed for memory."""
        for descriptor in tuple(self._open):
            self._close(descriptor)
        memory = False
        confinement = self._started.confinement
        try:
            if confinement is not None and confinement.group is not None:
                memory = confinement.group.out_of_memory()
                confinement.group.remove()
        finally:
            self._started.give_back()
        return memory

    def _close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.remove(descriptor)
            os.close(descriptor)

    def _finish(self, stream: Stream) -> tuple[Captured, str]:
        text, captured = self._captures[stream].finish()
        return captured, text

    def _emit(self, stream: Stream, text: str) -> None:
        if not text:
            return
        if self._offload is not None:
            self._offload.feed(stream, text)
        if self._on_output is not None:
            self._on_output(stream, text)
