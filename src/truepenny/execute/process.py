"""Running one process: it ends, or it is ended, and nothing of its group stays behind.

The end is seen by the process id, not by its pipes: a background child that keeps a pipe open
costs `DRAIN_SECONDS` and a fact, never a hang (spec/field.md B1). A process that moved itself to
another session is out of reach here; only a sandbox with its own process tree ends that one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import anyio

from truepenny.system.clock import Clock, SystemClock

from .capture import Capture
from .child import Child
from .command import Command
from .ending import Cause
from .execution import Execution
from .start import Started, StartFailure, start

DRAIN_SECONDS = 1.0
"""How long output may still come after the process ended, while another holds its pipe."""

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

    Cancelling the surrounding scope ends the whole process group before it propagates.
    """
    clock = clock or SystemClock()
    began = clock.monotonic()
    started = start(command)
    if isinstance(started, StartFailure):
        return Execution(failure=started, duration=clock.monotonic() - began)
    execution = await _Running(command, started, on_output).supervise()
    return replace(execution, duration=clock.monotonic() - began)


class _Running:
    def __init__(self, command: Command, started: Started, on_output: OnOutput | None) -> None:
        self._command = command
        self._started = started
        self._child = Child(started.popen)
        self._on_output = on_output
        self._open = {started.stdout, started.stderr}
        if started.stdin is not None:
            self._open.add(started.stdin)
        self._captures: dict[Stream, Capture] = {
            "stdout": Capture(command.limits.stdout, command.redactor),
            "stderr": Capture(command.limits.stderr, command.redactor),
        }
        self._unread = len(self._captures)
        self._all_read = anyio.Event()
        self._over = anyio.Event()
        self._capped = False
        self._stdin_taken = 0

    async def supervise(self) -> Execution:
        started, drained, timed_out, leftovers = self._started, False, False, 0
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, started.stdout, "stdout")
                tasks.start_soon(self._read, started.stderr, "stderr")
                if started.stdin is not None:
                    tasks.start_soon(self._feed, started.stdin, self._command.stdin or b"")
                tasks.start_soon(self._watch)
                with anyio.move_on_after(self._command.timeout):
                    await self._over.wait()
                timed_out = not self._over.is_set()
                if timed_out or self._capped:
                    leftovers = await self._child.end()
                if not self._capped:
                    with anyio.move_on_after(DRAIN_SECONDS):
                        await self._all_read.wait()
                drained = self._all_read.is_set()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                leftovers += await self._child.end()
            for descriptor in tuple(self._open):
                self._close(descriptor)
        status = self._child.status
        stdout = self._captures["stdout"].finish()
        stderr = self._captures["stderr"].finish()
        self._emit("stdout", stdout[0])
        self._emit("stderr", stderr[0])
        cause = None
        if timed_out:
            cause = Cause.TIMEOUT
        elif self._capped:
            cause = Cause.OUTPUT_CAP
        elif status.signal is not None:
            cause = Cause.SIGNAL
        return Execution(
            exit=status,
            cause=cause,
            stdout=stdout[1],
            stderr=stderr[1],
            drained=drained,
            leftovers=leftovers,
            stdin_taken=self._stdin_taken,
        )

    async def _watch(self) -> None:
        await self._child.ended()
        self._over.set()

    async def _read(self, descriptor: int, stream: Stream) -> None:
        cap = self._command.limits.stop_after
        while True:
            await anyio.wait_readable(descriptor)
            try:
                data = os.read(descriptor, READ_BYTES)
            except BlockingIOError:
                continue
            if not data:
                break
            self._emit(stream, self._captures[stream].feed(data))
            if cap is not None and sum(c.observed for c in self._captures.values()) > cap:
                # Left unread from here on: `_all_read` stays unset, so it never counts as drained.
                self._capped = True
                self._over.set()
                return
        self._unread -= 1
        if self._unread == 0:
            self._all_read.set()

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

    def _close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.remove(descriptor)
            os.close(descriptor)

    def _emit(self, stream: Stream, text: str) -> None:
        if self._on_output is not None and text:
            self._on_output(stream, text)
