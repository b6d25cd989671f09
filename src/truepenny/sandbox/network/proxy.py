"""The CONNECT proxy: the allow-list decides, the resolved address decides again, bytes pass unread.

Nothing is decrypted. A name that is not on the list is never even looked up, for a look-up carries
data out as well.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from truepenny.sandbox.plan import Account
from truepenny.system.clock import Clock

from .address import Verdict
from .allow import Allowed
from .decision import ESTABLISHED, Answer, Decision, Decisions, End, Word, answer
from .destination import Destination
from .listener import Listening, listening
from .request import END, HEADER_BYTES, Fault, Refusal, read_request
from .resolver import Resolver, pin, resolve
from .stream import Stream, connect

log = logging.getLogger(__name__)

OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Ours, and no word about the host."""


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Seconds, and a count. `total` is the longest life of one tunnel: as long as the longest
    script may run (tools spec 2.11)."""

    header: float = 10.0
    connect: float = 10.0
    idle: float = 300.0
    total: float = 6 * 3600.0
    connections: int = 64


class ConnectProxy:
    """A proxy with its allow-list. `decisions` are in the order of the requests."""

    def __init__(
        self,
        allowed: Mapping[Destination, Allowed],
        *,
        resolver: Resolver = resolve,
        limits: ProxyLimits | None = None,
    ) -> None:
        self._allowed = dict(allowed)
        self._resolver = resolver
        self._limits = limits or ProxyLimits()
        self.decisions = Decisions()

    @asynccontextmanager
    async def listening(
        self, path: Path, account: Account, *, clock: Clock | None = None
    ) -> AsyncGenerator[Listening]:
        """Serve at a unix socket while the context is open; see `network.listener.listening`."""
        busy = answer(Answer.BUSY, "too many connections at once")
        most = self._limits.connections
        async with listening(
            path,
            account,
            self.handle,
            most=most,
            busy_answer=busy,
            on_busy=lambda: self._note(Answer.BUSY),
            clock=clock,
        ) as state:
            yield state

    async def handle(self, client: Stream) -> None:
        """Serve one connection to its end."""
        asked = await self._read(client)
        if asked is None:
            return
        destination, early = asked
        entry = self._allowed.get(destination)
        if entry is None:
            await self._refuse(client, Answer.NOT_ALLOWED, "not on the list", destination)
            return
        judged = await pin(destination, allow_inner=entry.allow_private, resolver=self._resolver)
        if judged.verdict is not Verdict.ALLOWED:
            message = "no address was found for this host"
            if judged.kind is not None:
                message = f"the address of this host may not be reached ({judged.kind})"
            address = "" if judged.decisive is None else str(judged.decisive)
            await self._refuse(client, judged.verdict, message, destination, address)
            return
        for address in judged.addresses:
            try:
                with anyio.fail_after(self._limits.connect):
                    upstream = await connect(address, destination.port)
            except OSError as error:  # a TimeoutError is one
                if error.errno in OUT_OF_RESOURCES:
                    message = f"the proxy cannot connect: {error.strerror}"
                    await self._refuse(client, Answer.OURS, message, destination, str(address))
                    return
                continue
            try:
                decision = self._note(Verdict.ALLOWED, destination, str(address))
                await _Tunnel(client, upstream, decision, self._limits).run(early)
            finally:
                upstream.close()
            return
        message = "no address of this host takes connections"
        tried = str(judged.addresses[-1])
        await self._refuse(client, Answer.UPSTREAM_FAILED, message, destination, tried)

    async def _read(self, client: Stream) -> tuple[Destination, bytes] | None:
        """Read the head; return where to, and what came behind it. None: it was answered."""
        data = b""
        with anyio.move_on_after(self._limits.header):
            while END not in data and len(data) <= HEADER_BYTES:
                more = await client.receive(HEADER_BYTES)
                if not more:
                    # Half a request and its end: whoever still reads gets no answer either.
                    self._note(Answer.CLOSED)
                    return None
                data += more
        head, end, early = data.partition(END)
        if len(head) > HEADER_BYTES:
            await self._refuse(client, Fault.HEADER_TOO_LARGE, f"more than {HEADER_BYTES} bytes")
            return None
        if not end:
            await self._refuse(client, Answer.TIMEOUT, "the head did not come in time")
            return None
        asked = read_request(head + END)
        if isinstance(asked, Refusal):
            await self._refuse(client, asked.fault, asked.message)
            return None
        return asked, early

    async def _refuse(
        self,
        client: Stream,
        word: Word,
        message: str,
        destination: Destination | None = None,
        address: str = "",
    ) -> None:
        self._note(word, destination, address)
        with anyio.move_on_after(self._limits.header):
            await client.send(answer(word, message))

    def _note(
        self, word: Word, destination: Destination | None = None, address: str = ""
    ) -> Decision:
        decision = Decision(word, "" if destination is None else str(destination), address)
        self.decisions.add(decision)
        log.info("connect: to=%s verdict=%s address=%s", decision.destination, word, address)
        return decision


class _Tunnel:
    def __init__(
        self, client: Stream, upstream: Stream, decision: Decision, limits: ProxyLimits
    ) -> None:
        self._client = client
        self._upstream = upstream
        self._decision = decision
        self._limits = limits
        self._idle = anyio.CancelScope()

    async def run(self, early: bytes) -> None:
        decision = self._decision
        decision.end = End.OPEN
        try:
            with anyio.move_on_after(self._limits.total) as total, self._idle:
                self._alive()
                try:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(self._down)
                        await self._up(early)
                except* OSError:
                    pass  # One end went away; what passed until then is counted.
                decision.end = End.CLOSED
        except BaseException:
            decision.end = End.STOPPED
            raise
        if total.cancelled_caught:
            decision.end = End.TOTAL
        elif self._idle.cancelled_caught:
            decision.end = End.IDLE
        to, out, back = decision.destination, decision.sent, decision.received
        log.info("tunnel: to=%s sent=%d received=%d end=%s", to, out, back, decision.end)

    def _alive(self) -> None:
        self._idle.deadline = anyio.current_time() + self._limits.idle

    async def _up(self, early: bytes) -> None:
        data = early or await self._client.receive()
        while data:
            await self._upstream.send(data)
            self._decision.sent += len(data)
            self._alive()
            data = await self._client.receive()
        self._upstream.end()

    async def _down(self) -> None:
        await self._client.send(ESTABLISHED)
        while data := await self._upstream.receive():
            await self._client.send(data)
            self._decision.received += len(data)
            self._alive()
        self._client.end()
