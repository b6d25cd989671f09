"""The standard input and output transport, over a process that we start, hold and end.

The protocol's messages are JSON objects, one a line. What is no message reaches the session as an
error value; a line beyond `MOST_LINE_BYTES` ends the connection, for what follows it is unknown.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio

from truepenny.errors import CouldNotRun
from truepenny.execute.command import Command
from truepenny.execute.conversation import Conversation, converse
from truepenny.execute.execution import StartFailure, StartFault

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

MOST_LINE_BYTES = 32 * 1024 * 1024
"""One message: above any text or picture that a result may hold."""


@asynccontextmanager
async def stdio_transport(command: Command) -> AsyncGenerator[TransportStreams]:
    """Start a server and yield the streams that `mcp.Client` takes; it has ended behind it.

    Raises CouldNotRun where it does not start.
    """
    from mcp.shared.message import SessionMessage

    async with converse(command) as talk:
        if isinstance(talk, StartFailure):
            missing = talk.fault is StartFault.MISSING_PROGRAM
            remedy = "Install it, or name it by its path." if missing else ""
            raise CouldNotRun(talk.message, where=command.argv[0], remedy=remedy)
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:

            async def receive(talk: Conversation = talk) -> None:
                gone = (anyio.BrokenResourceError, anyio.ClosedResourceError)
                async with to_session:
                    with suppress(*gone):
                        async for line in _lines(talk):
                            await to_session.send(_message(line))

            async def send(talk: Conversation = talk) -> None:
                async with from_session:
                    with suppress(BrokenPipeError):
                        async for message in from_session:
                            text = message.message.model_dump_json(
                                by_alias=True, exclude_unset=True
                            )
                            await talk.send(text.encode() + b"\n")
                # Nobody answers any more: the session must not wait for it.
                to_session.close()

            tasks.start_soon(receive)
            tasks.start_soon(send)
            try:
                yield incoming, outgoing
            finally:
                for stream in (incoming, outgoing, to_session, from_session):
                    stream.close()
                tasks.cancel_scope.cancel()


async def _lines(talk: Conversation) -> AsyncGenerator[bytes]:
    buffer = bytearray()
    while data := await talk.receive():
        *whole, rest = data.split(b"\n")
        for part in whole:
            buffer += part
            yield bytes(buffer)
            buffer.clear()
        buffer += rest
        if len(buffer) > MOST_LINE_BYTES:
            return


def _message(line: bytes) -> SessionMessage | Exception:
    from mcp import types
    from mcp.shared.message import SessionMessage

    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
