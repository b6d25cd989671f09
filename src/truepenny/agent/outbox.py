"""The way events take from a turn to whoever reads them."""

from __future__ import annotations

from collections import deque

import anyio

from .event import RunEvent, ToolProgress

ROOM = 256
"""Events that may wait before the turn pauses: several screens of deltas."""


class Outbox:
    """A queue with one reader, in memory, in order.

    `send` pauses the turn while the reader is far behind. `put` never waits, so the end of a turn
    gets out whatever the reader does; of progress lines it drops, and counts, what finds no room.
    """

    def __init__(self) -> None:
        self._events: deque[RunEvent] = deque()
        self._arrived: anyio.Event | None = None
        self._drained: anyio.Event | None = None
        self._closed = False
        self._failure: Exception | None = None

    def put(self, event: RunEvent) -> bool:
        """Add an event without waiting; False if it was a progress line without room."""
        if isinstance(event, ToolProgress) and len(self._events) >= ROOM:
            return False
        self._events.append(event)
        if self._arrived is not None:
            self._arrived.set()
        return True

    async def send(self, event: RunEvent) -> None:
        """Add an event, waiting for the reader if too many wait already."""
        self.put(event)
        while len(self._events) > ROOM:
            self._drained = self._drained or anyio.Event()
            await self._drained.wait()

    def close(self, failure: Exception | None = None) -> None:
        """End the stream after what is in it; `failure`, if given, is then raised at the reader."""
        self._closed, self._failure = True, failure
        if self._arrived is not None:
            self._arrived.set()

    def __aiter__(self) -> Outbox:
        return self

    async def __anext__(self) -> RunEvent:
        while not self._events:
            if self._closed:
                if self._failure is not None:
                    raise self._failure
                raise StopAsyncIteration
            self._arrived = anyio.Event()
            await self._arrived.wait()
            self._arrived = None
        event = self._events.popleft()
        if self._drained is not None and len(self._events) <= ROOM // 2:
            self._drained.set()
            self._drained = None
        return event
