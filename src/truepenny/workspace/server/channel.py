"""One end of the socket: whole frames in and out, without blocking the event loop."""

from __future__ import annotations

import socket
from collections import deque

import anyio

from .frame import FrameFault, FrameReader, frame

CHUNK = 256 * 1024
"""One read or write."""


class Channel:
    """Frames over a connected stream socket, which it owns."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._reader = FrameReader()
        self._ready: deque[bytes] = deque()
        self._sending = anyio.Lock()
        self._broken = False

    async def receive(self) -> bytes | None:
        """Return the next payload, None at the end. Raises FrameFault, also for an end amidst."""
        while not self._ready:
            await anyio.wait_readable(self._socket)
            try:
                data = self._socket.recv(CHUNK)
            except BlockingIOError:
                continue
            except OSError:  # The other end was killed with something of ours unread.
                data = b""
            if not data:
                self._reader.finish()
                return None
            self._ready.extend(self._reader.feed(data))
        return self._ready.popleft()

    async def send(self, payload: bytes) -> None:
        """Send one payload; whole, or the channel is broken. Raises FrameFault, BrokenPipeError."""
        data = memoryview(frame(payload))
        async with self._sending:
            if self._broken:
                raise BrokenPipeError
            # Half a frame on the wire is worse than a late cancellation, but the other end may
            # never read: whoever is cancelled meanwhile leaves a broken channel, not a mixed one.
            self._broken = True
            while data:
                try:
                    data = data[self._socket.send(data[:CHUNK]) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._socket)
                except OSError as error:
                    raise BrokenPipeError(*error.args) from error
            self._broken = False

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


__all__ = ["Channel", "FrameFault"]
