"""A process that is talked with: its standard input and output are the caller's, raw, both ways.

For servers over standard input and output (MCP, extensions, workers). All else is as in any run:
own group, sandbox, standard error captured, end seen by the process id, nothing left behind.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import anyio

from .command import Command
from .execution import Execution, StartFailure
from .process import READ_BYTES, Running, begin

END_SECONDS = 2.0
"""How long a server may take to end after its input was closed; then it is ended."""


class Conversation:
    """An open one. `execution` is the account of the process once `ended` is set."""

    def __init__(self, write: int, read: int) -> None:
        self._write: int | None = write
        self._read: int | None = read
        self._sending = anyio.Lock()
        self.ended = anyio.Event()
        self.execution: Execution | None = None

    async def send(self, data: bytes) -> None:
        """Write all of it, in order with other senders.

        Raises BrokenPipeError where the process reads no more, or the input was closed. Cancelled
        in between, a part may have been sent: what follows would not fit, so close it then.
        """
        async with self._sending:
            view = memoryview(data)
            while view:
                if self._write is None:
                    raise BrokenPipeError("the input of the process is closed")
                with suppress(BlockingIOError, anyio.ClosedResourceError):
                    await anyio.wait_writable(self._write)
                    view = view[os.write(self._write, view[:READ_BYTES]) :]

    async def receive(self) -> bytes:
        """Return what came, up to 64 KiB; b"" at the end of its output."""
        while self._read is not None:
            with suppress(BlockingIOError, anyio.ClosedResourceError):
                await anyio.wait_readable(self._read)
                return os.read(self._read, READ_BYTES)
        return b""

    def close_input(self) -> None:
        """Let the process see the end of its input: the way to ask a server to end."""
        descriptor, self._write = self._write, None
        if descriptor is not None:
            _close(descriptor)

    def close(self) -> None:
        """Close both ends."""
        self.close_input()
        descriptor, self._read = self._read, None
        if descriptor is not None:
            _close(descriptor)


def _close(descriptor: int) -> None:
    # Whoever waits for it wakes up, and finds it gone, before its number can mean another file.
    anyio.notify_closing(descriptor)
    os.close(descriptor)


@asynccontextmanager
async def converse(command: Command) -> AsyncGenerator[Conversation | StartFailure]:
    """Start a process and talk with it; with the context it is ended, however that is left.

    First its input is closed and it gets 2 s to end by itself. A start that failed is yielded as
    what it is. What the body raises comes in an exception group. `command.stdin` and
    `command.conversation` are not for the caller to set.
    """
    their_input, write = os.pipe()
    try:
        read, their_output = os.pipe()
    except BaseException:
        os.close(their_input)
        os.close(write)
        raise
    talk = Conversation(write, read)
    try:
        for descriptor in (write, read):
            os.set_blocking(descriptor, False)
        running = begin(replace(command, conversation=(their_input, their_output)))
    except BaseException:
        talk.close()
        raise
    finally:
        os.close(their_input)
        os.close(their_output)
    if isinstance(running, StartFailure):
        talk.close()
        yield running
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_supervise, running, talk)
        try:
            yield talk
        finally:
            with anyio.CancelScope(shield=True):
                talk.close_input()
                with anyio.move_on_after(END_SECONDS):
                    await talk.ended.wait()
                running.stop()
                await talk.ended.wait()
                talk.close()


async def _supervise(running: Running, talk: Conversation) -> None:
    try:
        # Shielded: leaving the context stops it, in its own order.
        with anyio.CancelScope(shield=True):
            talk.execution = await running.supervise()
    finally:
        talk.ended.set()
