"""A kept connection that the server has dropped meanwhile: the request is sent once more."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from truepenny.model.channel import Channel, ChannelFailed
from truepenny.model.endpoint import Endpoint
from truepenny.model.failure import FailureKind

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class DroppingServer:
    """Answers `answers[n]` requests on its nth connection, then reads one more and hangs up."""

    def __init__(self, *answers: int) -> None:
        self.answers = list(answers)
        self.requests = 0
        self.url = ""

    async def handle(self, stream: SocketStream) -> None:
        left = self.answers.pop(0)
        async with stream:
            while True:
                try:
                    await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return
                self.requests += 1
                if left == 0:
                    return
                left -= 1
                await stream.send(OK)

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[Channel]:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(SocketAttribute.local_port)
        self.url = f"http://127.0.0.1:{port}"
        channel = Channel(Endpoint("peer", self.url))
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self.handle)
            yield channel
            await channel.close()
            tasks.cancel_scope.cancel()


async def post(channel: Channel, url: str) -> int:
    reply = await channel.post(url, b"{}", {})
    while await reply.chunk():
        pass
    await reply.close()
    return reply.status


async def test_a_dropped_kept_connection_is_replaced() -> None:
    server = DroppingServer(1, 1)
    async with server.serving() as channel:
        assert await post(channel, server.url) == 200
        assert await post(channel, server.url) == 200
    assert server.requests == 3


async def test_a_server_that_hangs_up_on_the_first_request_is_a_fault() -> None:
    server = DroppingServer(0)
    async with server.serving() as channel:
        with pytest.raises(ChannelFailed) as raised:
            await post(channel, server.url)
    assert raised.value.kind is FailureKind.NETWORK
    assert server.requests == 1


async def test_it_is_sent_once_more_and_not_for_ever() -> None:
    server = DroppingServer(1, 0)
    async with server.serving() as channel:
        assert await post(channel, server.url) == 200
        with pytest.raises(ChannelFailed):
            await post(channel, server.url)
    assert server.requests == 3
