"""A model provider on loopback that speaks three protocols, checks requests as strictly as the
real ones, and misbehaves on command.

In a test: `with ModelServer([Reply(text="hi")]) as server: ...`, then `server.endpoint(wire)` and
`server.requests`. As a process: `python -m tests.peers.model_server --port N --turns N` answers N
tool-calling turns and then text, without state: the turn is the number of results in the request.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from ssl import SSLContext
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import anyio
from anyio.abc import ByteStream, SocketAttribute, TaskStatus
from anyio.from_thread import start_blocking_portal
from anyio.streams.tls import TLSListener

from truepenny.model.endpoint import Endpoint, Timeouts

from .model_frames import PATHS, error_body, frames
from .model_rules import check
from .model_script import Call, Counts, Recorded, Refuse, Reply

Answer = Reply | Refuse
Script = Sequence[Answer] | Callable[[Recorded], Answer]

KEY = "sk-test-0123456789abcdef"
"""The only key that the server takes."""

_END = b"0\r\n\r\n"


class ModelServer:
    """Runs in a thread of its own between `__enter__` and `__exit__`.

    A list of answers is used up in order; a request after its end is answered with status 500.
    `refused` names parameters that the model does not take (`tests.peers.model_rules`). With
    `strict` off nothing is checked but the path and the key.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        refused: Collection[str] = (),
        strict: bool = True,
        tls: SSLContext | None = None,
    ) -> None:
        self.requests: list[Recorded] = []
        self.refused = set(refused)
        self.port = 0
        self._script = script
        self._strict = strict
        self._tls = tls
        self._answered = 0
        self._connections = 0
        self._stack = ExitStack()

    @property
    def connections(self) -> int:
        """How many were opened so far."""
        return self._connections

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def endpoint(self, wire: str, timeouts: Timeouts | None = None, key: str = KEY) -> Endpoint:
        """Return the endpoint for a wire."""
        base = self.url if wire == "anthropic_messages" else f"{self.url}/v1"
        return Endpoint("peer", base, key, timeouts=timeouts or Timeouts(5, 5, 5))

    def __enter__(self) -> Self:
        portal = self._stack.enter_context(start_blocking_portal())
        future, self.port = portal.start_task(self.serve)
        self._stack.callback(future.cancel)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    async def serve(
        self, port: int = 0, *, task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Listen until cancelled; reports the port."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
        bound = listener.extra(SocketAttribute.local_port)
        open_to = (
            TLSListener(listener, self._tls, standard_compatible=False) if self._tls else listener
        )
        async with open_to:
            task_status.started(bound)
            await open_to.serve(self._connection)

    async def _connection(self, stream: ByteStream) -> None:
        self._connections += 1
        number = self._connections
        buffer = bytearray()
        try:
            async with stream:
                while await self._exchange(stream, buffer, number):
                    pass
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass

    async def _exchange(self, stream: ByteStream, buffer: bytearray, number: int) -> bool:
        """Read one request and answer it; False closes the connection."""
        while b"\r\n\r\n" not in buffer:
            buffer += await stream.receive()
        head, _, rest = bytes(buffer).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        # A client that takes this server for its proxy sends the whole address.
        path = urlsplit(lines[0].split(" ")[1]).path
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        size = int(headers.get("content-length", "0"))
        body = bytearray(rest)
        while len(body) < size:
            body += await stream.receive()
        buffer[:] = body[size:]
        protocol = PATHS.get(path, "")
        answer, recorded = self._answer(protocol, path, headers, bytes(body[:size]), number)
        if isinstance(answer, Refuse):
            await stream.send(_plain(protocol, answer))
            return True
        return await self._stream(stream, recorded, answer)

    def _answer(
        self, protocol: str, path: str, headers: dict[str, str], raw: bytes, number: int
    ) -> tuple[Answer, Recorded]:
        recorded = Recorded(protocol, path, headers, {}, raw, number)
        if not protocol:
            return Refuse(404, f"no such path {path}", type="not_found"), recorded
        if KEY not in (headers.get("x-api-key", ""), headers.get("authorization", "")[7:]):
            return Refuse(401, "invalid x-api-key", type="authentication_error"), recorded
        try:
            recorded = Recorded(protocol, path, headers, json.loads(raw), raw, number)
        except ValueError as error:
            return Refuse(400, f"the body is not JSON: {error}"), recorded
        self.requests.append(recorded)
        refusal = check(protocol, recorded.body, self.refused) if self._strict else None
        if refusal is not None:
            return refusal, recorded
        if callable(self._script):
            return self._script(recorded), recorded
        if self._answered >= len(self._script):
            return Refuse(500, "the script is at its end", type="api_error"), recorded
        self._answered += 1
        return self._script[self._answered - 1], recorded

    async def _stream(self, stream: ByteStream, recorded: Recorded, reply: Reply) -> bool:
        if reply.stall == "before":
            await _until_closed(stream)
            return False
        events = frames(recorded.protocol, reply, recorded.body, len(self.requests))
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {reply.content_type}\r\n"
        await stream.send(head.encode("ascii") + b"transfer-encoding: chunked\r\n\r\n")
        if reply.stall == "head":
            await _until_closed(stream)
            return False
        if isinstance(reply.stall, int):
            for event in events[: reply.stall]:
                await stream.send(_chunk(event))
            await _until_closed(stream)
            return False
        whole = b"".join(events)
        if reply.cut is not None:
            if reply.cut:
                await stream.send(_chunk(whole[: reply.cut]))
            return False
        if reply.split:
            for at in range(0, len(whole), reply.split):
                await stream.send(_chunk(whole[at : at + reply.split]))
            await stream.send(_END)
        else:
            await stream.send(b"".join(map(_chunk, events)) + _END)
        return True


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _plain(protocol: str, refuse: Refuse) -> bytes:
    body = error_body(protocol, refuse)
    headers = {
        "content-type": refuse.content_type,
        "content-length": str(len(body)),
        **refuse.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {refuse.status} Status\r\n{lines}\r\n".encode("latin-1") + body


async def _until_closed(stream: ByteStream) -> None:
    """Stay silent until the client gives up: no clock on this side."""
    while True:
        await stream.receive()


_RESULT_MARK = {
    "anthropic_messages": b'"tool_use_id"',
    "openai_chat": b'"tool_call_id"',
    "openai_responses": b'"function_call_output"',
}


def turns_then_text(turns: float, call: Call, text: str = "Done.") -> Callable[[Recorded], Answer]:
    """Answer `turns` tool calls, then text, by counting the results that came back."""
    asking = Reply(calls=(call,), counts=Counts())
    final = Reply(text=text)

    def answer(recorded: Recorded) -> Answer:
        seen = recorded.raw.count(_RESULT_MARK[recorded.protocol])
        return asking if seen < turns else final

    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description="Answer as a model, without delay.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--turns", type=float, default=math.inf)
    parser.add_argument("--tool", default="echo")
    parser.add_argument("--arguments", type=json.loads, default={"text": "hello"})
    options = parser.parse_args()
    call = Call(options.tool, options.arguments)
    server = ModelServer(turns_then_text(options.turns, call), strict=False)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            port = await group.start(server.serve, options.port)
            print(f"http://127.0.0.1:{port} key {KEY}", flush=True)

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
