"""Bytes over one connected socket, with an end in each direction of its own."""

from __future__ import annotations

import errno
import os
import select
import socket
from contextlib import suppress

import anyio

from .address import IP

READ_BYTES = 64 * 1024
"""One read; twice this is all that a tunnel holds in memory."""

KEEPALIVE = (60, 10, 6)
"""Seconds of silence before the first question, seconds between questions, and how many without
an answer end the connection (assistant spec 3.4)."""


class Stream:
    """A non-blocking socket. At most one task reads and one writes; close it when none does."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection

    async def receive(self, most: int = READ_BYTES) -> bytes:
        """Return what is there, at least one byte; empty at the end. Raises OSError."""
        while True:
            try:
                return self._socket.recv(most)
            except (BlockingIOError, InterruptedError):
                await anyio.wait_readable(self._socket)

    async def send(self, data: bytes) -> None:
        """Send all of it. Raises OSError, also when the other end has closed."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except (BlockingIOError, InterruptedError):
                await anyio.wait_writable(self._socket)

    async def left(self) -> None:
        """Return once the other end has closed altogether, or sends something.

        For one that only says that it sends no more it never returns: it may still read.
        """
        with suppress(OSError):
            if await self.receive(1):
                return
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        if not any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0)):
            await anyio.sleep_forever()

    def end(self) -> None:
        """Say that nothing more will be sent."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Give it back; never waits."""
        self._socket.close()


async def connect(address: IP, port: int) -> Stream:
    """Connect to exactly this address; nothing is looked up. Raises OSError."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        code = connection.connect_ex((str(address), port))
        if code == errno.EINPROGRESS:
            await anyio.wait_writable(connection)
            code = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        idle, interval, count = KEEPALIVE
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, idle)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, interval)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, count)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return Stream(connection)
