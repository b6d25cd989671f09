"""A unix socket of ours for the processes of one account, and for nobody else."""

from __future__ import annotations

import errno
import logging
import os
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.abc

from truepenny.errors import CouldNotRun
from truepenny.sandbox.plan import Account
from truepenny.system.clock import Clock, SystemClock

from .stream import Stream

log = logging.getLogger(__name__)

MOST_PATH = 107
"""Bytes of a unix socket's path on Linux, its final NUL left out."""

ACCEPT_PAUSES = (0.02, 0.05)
"""Seconds before another try where a connection cannot be taken; after the last one it is over."""

BACKLOG = 64

_CREDENTIALS = struct.Struct("3i")
_HARMLESS = (errno.ECONNABORTED, errno.EINTR, errno.EAGAIN)

Handle = Callable[[Stream], Awaitable[None]]


@dataclass(slots=True)
class Listening:
    """What a listener is doing. `problem` says why it takes no more connections, else empty."""

    path: Path
    strangers: int = 0
    """Connections of other accounts; each was closed unread."""
    busy: int = 0
    """Connections beyond the limit; each got the answer for that."""
    faults: int = 0
    """Connections that ended by an error of ours; each is in the log."""
    problem: str = ""
    open: set[Stream] = field(default_factory=set[Stream])


@asynccontextmanager
async def listening(
    path: Path,
    account: Account,
    handle: Handle,
    *,
    most: int,
    busy_answer: bytes,
    on_busy: Callable[[], object] = lambda: None,
    clock: Clock | None = None,
) -> AsyncGenerator[Listening]:
    """Listen at `path` and handle each connection of `account` in a task of its own; for each one
    beyond `most`, `on_busy` is called.

    The socket belongs to the account and is for it alone (mode 0600); who connects is asked of the
    kernel as well. At the end all handlers are cancelled and the path is removed. Raises
    CouldNotRun where the socket cannot be made.
    """
    server = bind(path, account)
    state = Listening(path)
    raised: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            accepting = _Accepting(
                server, state, {account.uid, os.geteuid()}, handle, most, on_busy
            )
            tasks.start_soon(accepting.run, tasks, busy_answer, clock or SystemClock())
            try:
                yield state
            except Exception as error:
                raised = error  # kept out of the group, which would wrap it
            finally:
                tasks.cancel_scope.cancel()
        if raised is not None:
            raise raised
    finally:
        # After the tasks: nobody waits for any of them any more.
        server.close()
        for stream in state.open:
            stream.close()
        with suppress(OSError):
            os.unlink(path)


class _Accepting:
    def __init__(
        self,
        server: socket.socket,
        state: Listening,
        uids: set[int],
        handle: Handle,
        most: int,
        on_busy: Callable[[], object],
    ) -> None:
        self._server = server
        self._state = state
        self._uids = uids
        self._handle = handle
        self._most = most
        self._on_busy = on_busy

    async def run(self, tasks: anyio.abc.TaskGroup, busy_answer: bytes, clock: Clock) -> None:
        failures = 0
        while True:
            await anyio.wait_readable(self._server)
            try:
                connection, _ = self._server.accept()
            except OSError as error:
                if error.errno in _HARMLESS:
                    continue
                if failures == len(ACCEPT_PAUSES):
                    self._state.problem = error.strerror or str(error)
                    log.error("listener stopped: path=%s error=%s", self._state.path, error)
                    return
                await clock.sleep(ACCEPT_PAUSES[failures])
                failures += 1
                continue
            failures = 0
            self._take(connection, tasks, busy_answer)

    def _take(
        self, connection: socket.socket, tasks: anyio.abc.TaskGroup, busy_answer: bytes
    ) -> None:
        stream = Stream(connection)
        pid, uid, _ = peer(connection)
        if uid not in self._uids:
            self._state.strangers += 1
            log.warning("stranger: path=%s uid=%d pid=%d", self._state.path, uid, pid)
            stream.close()
        elif len(self._state.open) >= self._most:
            self._state.busy += 1
            self._on_busy()
            with suppress(OSError):
                connection.send(busy_answer)
            stream.close()
        else:
            self._state.open.add(stream)
            tasks.start_soon(self._serve, stream)

    async def _serve(self, stream: Stream) -> None:
        try:
            await self._handle(stream)
        except OSError as error:
            log.info("connection lost: path=%s error=%s", self._state.path, error)
        except Exception:
            # A fault of ours with what one peer sent; the others are served on.
            self._state.faults += 1
            log.exception("handler failed: path=%s", self._state.path)
        finally:
            self._state.open.discard(stream)
            stream.close()


def peer(connection: socket.socket) -> tuple[int, int, int]:
    """Return process, user and group of the other end, as they were when it connected."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    return pid, uid, gid


def bind(path: Path, account: Account) -> socket.socket:
    """Make the socket for one account, listening. Raises CouldNotRun."""
    if len(os.fsencode(path)) > MOST_PATH:
        raise CouldNotRun(
            f"the path of a socket is longer than {MOST_PATH} bytes",
            where=str(path),
            remedy="Set TMPDIR to a folder with a shorter name.",
        )
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        server.setblocking(False)
        # Before the path is there, so that it is never there with another mode.
        os.fchmod(server.fileno(), 0o600)
        server.bind(str(path))
        if account.uid != os.geteuid():
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
        server.listen(BACKLOG)
    except OSError as error:
        server.close()
        raise CouldNotRun(
            f"the socket cannot be made: {error.strerror or error}",
            where=str(path),
            remedy="Check that the folder for temporary files can be written.",
        ) from error
    return server
