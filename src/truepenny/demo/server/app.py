"""The practice cluster as an ASGI application: admit, find the target, answer, write it out."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

import anyio

from truepenny.demo.fault import Fault, FaultPlan
from truepenny.demo.server import exec as recorded
from truepenny.demo.server.authorization import Authorizer, authorizers
from truepenny.demo.server.exchange import (
    Receive,
    Reply,
    Request,
    Scope,
    Send,
    head,
    json_reply,
    read_body,
    refusal_reply,
)
from truepenny.demo.server.kind import METRICS_GROUP
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.plain import open_path, plain
from truepenny.demo.server.resources import find, get, list_kind
from truepenny.demo.server.review import review
from truepenny.demo.server.status import REASONS, Refusal, no_such_path
from truepenny.demo.server.surroundings import World
from truepenny.demo.server.target import Target, read_target
from truepenny.demo.server.value import Object
from truepenny.system.clock import Clock, SystemClock

REQUESTS_KEPT = 10_000
"""The request log is for tests and for people who watch; older entries are dropped and counted."""

GARBAGE = b"\x00\xff<html><body>upstream proxy: this is not the API</body></html>\n"

_SWITCHING = 101  # what an accepted WebSocket is logged as
_NORMAL, _BROKEN = 1000, 1011  # WebSocket close codes
_NO_ANSWER = 0  # logged where the client never got a status


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One answered request. `status` is 0 where none was sent, `verb` empty for plain paths."""

    method: str
    path: str
    status: int
    verb: str = ""
    resource: str = ""
    query: str = ""
    client: str = ""


class _Cut(Exception):
    """The connection is dropped here on purpose."""


class PracticeApp:
    """Answers as an API server would; create and use it within one event loop.

    `tokens` are the bearer tokens by identity, the default one's under the empty name; every
    request outside the health paths must carry one.
    """

    def __init__(
        self,
        world: World,
        tokens: Mapping[str, str],
        faults: Sequence[Fault] = (),
        clock: Clock | None = None,
    ) -> None:
        measured = bool(world.metrics) and world.metrics.get("available", True)
        self.objects = Objects(world.objects, metrics=measured)
        self.requests: deque[RequestRecord] = deque(maxlen=REQUESTS_KEPT)
        self.requests_dropped = 0
        self.closing = anyio.Event()
        self._world = world
        known = authorizers(world.permissions)
        self._callers = {f"Bearer {token}": known[name] for name, token in tokens.items()}
        self._faults = FaultPlan(faults)
        self._clock = clock or SystemClock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request or WebSocket."""
        if scope["type"] == "http":
            await self._http(head(scope), receive, send)
        elif scope["type"] == "websocket":
            await self._socket(head(scope), scope, receive, send)

    def _record(self, request: Request, target: Target | None, status: int) -> None:
        if len(self.requests) == REQUESTS_KEPT:
            self.requests_dropped += 1
        self.requests.append(
            RequestRecord(
                request.method,
                request.path,
                status,
                target.verb if target else "",
                target.resource if target else "",
                "&".join(f"{key}={value}" for key, value in request.pairs),
                request.headers.get("user-agent", ""),
            )
        )

    def _target(self, request: Request) -> Target | None:
        try:
            return read_target(request, self.objects.catalog)
        except Refusal:
            return None

    async def _http(self, request: Request, receive: Receive, send: Send) -> None:
        target = self._target(request)
        failure = await self._failure(request, target)
        if failure and failure.action == "hang":
            self._record(request, target, _NO_ANSWER)
            await self._until_gone(receive)
            return
        try:
            if failure and failure.action == "status":
                raise _refusal(failure)
            body = await read_body(receive)
            reply = self._answer(request, target, body)
        except Refusal as refusal:
            reply = refusal_reply(refusal)
        except Exception as error:
            # A defect of the simulator is told to the client; the server's log is switched off.
            said = f"Internal error occurred: the simulator failed: {error!r}"
            reply = refusal_reply(Refusal(500, said))
        if failure and failure.action == "garbage":
            reply = Reply(reply.status, GARBAGE, reply.media)
        self._record(request, target, reply.status)
        try:
            await self._write(request, reply, receive, send, failure)
        except _Cut:
            # Ending without the last body message makes the server drop the connection.
            return

    async def _failure(self, request: Request, target: Target | None) -> Fault | None:
        """Wait out the delays that strike a request and return the failure that does."""
        verb, resource = (target.verb, target.resource) if target else ("", "")
        failure = None
        for fault in self._faults.choose(request.path, verb, resource):
            if fault.action == "slow":
                await self._clock.sleep(fault.delay)
            else:
                failure = fault
        return failure

    def _admit(self, request: Request) -> Authorizer:
        caller = self._callers.get(request.headers.get("authorization", ""))
        if caller is None:
            raise Refusal(401, "Unauthorized")
        return caller

    def _answer(self, request: Request, target: Target | None, body: bytes) -> Reply:
        caller = None if open_path(request.path) else self._admit(request)
        if target is None or caller is None:
            value = plain(request, self.objects)
            if value is None:
                raise no_such_path()
            return value
        caller.check(target)
        now = self._clock.now()
        kind = target.kind
        if target.resource == "pods/exec":
            recorded.check(request, find(target, self.objects))
            raise Refusal(400, "exec needs a WebSocket upgrade")
        if kind.kind == "Job":
            from truepenny.demo.server import debug_job

            if target.verb == "create":
                posted = Request(request.method, request.path, body=body)
                return debug_job.create(posted, target, self.objects, now)
            if target.verb == "delete":
                return debug_job.delete(target, self.objects)
        if kind.kind == "Pod" and target.verb in ("get", "list"):
            from truepenny.demo.server.debug_job import settle

            settle(self.objects, now)
        if target.verb == "create":
            asked = Request(request.method, request.path, body=body)
            return review(asked, kind, caller, self.objects.catalog)
        if target.verb not in kind.verbs:
            raise Refusal(405, "the server does not allow this method on the requested resource")
        if kind.group == METRICS_GROUP:
            from truepenny.demo.server.metrics import metrics

            return metrics(request, target, self.objects, self._world, now)
        if target.verb == "watch":
            from truepenny.demo.server.watch import watch

            return watch(request, target, self.objects, self._clock.now)
        if target.verb == "list":
            return list_kind(request, target, self.objects, now)
        if target.subresource in ("", "status"):
            return get(request, target, self.objects, now)
        if kind.kind == "Pod" and target.subresource == "log":
            from truepenny.demo.server.logs import logs

            return logs(request, find(target, self.objects), self._world, now)
        raise no_such_path()

    async def _write(
        self,
        request: Request,
        reply: Reply,
        receive: Receive,
        send: Send,
        failure: Fault | None,
    ) -> None:
        headers = [("Content-Type", reply.media), *reply.headers]
        headers.append(("Audit-Id", f"practice-{len(self.requests)}"))
        cut = failure is not None and failure.action == "cut"
        whole = reply.body if isinstance(reply.body, bytes) else None
        if whole is not None:
            headers.append(("Content-Length", str(len(whole))))
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers]
        await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
        if whole is not None:
            if request.method == "HEAD":
                whole = b""
            if cut and whole:
                await _body(send, whole[: len(whole) // 2], more=True)
                raise _Cut
            await _body(send, whole)
            return
        await self._stream(cast("AsyncIterator[bytes]", reply.body), receive, send, cut=cut)

    async def _stream(
        self, chunks: AsyncIterator[bytes], receive: Receive, send: Send, *, cut: bool
    ) -> None:
        """Send chunks until they end, the client goes, or the server closes."""
        dropped = False
        async with anyio.create_task_group() as group:

            async def stop_when_gone() -> None:
                await self._until_gone(receive)
                group.cancel_scope.cancel()

            group.start_soon(stop_when_gone)
            async with aclosing(cast("Any", chunks)) as stream:
                async for chunk in stream:
                    if cut and chunk:
                        await _body(send, chunk[: len(chunk) // 2], more=True)
                        dropped = True
                        break
                    await _body(send, chunk, more=True)
            group.cancel_scope.cancel()
        if dropped:
            raise _Cut
        await _body(send, b"")

    async def _until_gone(self, receive: Receive) -> None:
        async with anyio.create_task_group() as group:

            async def client_gone() -> None:
                while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
                    pass
                group.cancel_scope.cancel()

            group.start_soon(client_gone)
            await self.closing.wait()
            group.cancel_scope.cancel()

    async def _socket(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        target = self._target(request)
        offered: list[str] = scope.get("subprotocols", [])
        failure = await self._failure(request, target)
        if failure and failure.action == "hang":
            self._record(request, target, _NO_ANSWER)
            await self._until_gone(receive)
            return
        try:
            if failure and failure.action == "status":
                raise _refusal(failure)
            caller = self._admit(request)
            if target is None or target.resource != "pods/exec":
                raise no_such_path()
            caller.check(target)
            pod = find(target, self.objects)
            recorded.check(request, pod)
            chosen = recorded.protocol(offered)
        except Refusal as refusal:
            self._record(request, target, refusal.code)
            await _refuse_socket(refusal, send)
            return
        self._record(request, target, _SWITCHING)
        await send({"type": "websocket.accept", "subprotocol": chosen})
        ended = {"cut": b"", "garbage": GARBAGE}.get(failure.action) if failure else None
        await recorded.run(request, pod, self._world, send, status=ended)
        await send({"type": "websocket.close", "code": _BROKEN if ended == b"" else _NORMAL})

    def put(self, value: Object) -> None:
        """Add or replace an object; watchers see it."""
        self.objects.put(value)

    def remove(self, api_version: str, kind: str, namespace: str, name: str) -> bool:
        """Delete an object; watchers see it; False where it was not there."""
        found = self.objects.catalog.by_object({"apiVersion": api_version, "kind": kind})
        return found is not None and self.objects.remove(found, namespace, name)


async def _body(send: Send, data: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})


async def _refuse_socket(refusal: Refusal, send: Send) -> None:
    reply = json_reply(refusal.to_json())
    headers = [(b"content-type", reply.media.encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in refusal.headers]
    start = {
        "type": "websocket.http.response.start",
        "status": refusal.code,
        "headers": headers,
    }
    await send(start)
    await send({"type": "websocket.http.response.body", "body": cast("bytes", reply.body)})


_SAID = {
    401: "Unauthorized",
    403: "forbidden: a fault of the practice cluster refuses this request",
    429: "Too many requests, please try again later.",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted",
}


def _refusal(fault: Fault) -> Refusal:
    code = fault.status
    said = _SAID.get(code, f"an injected {code} of the practice cluster")
    details: Object = {}
    headers: tuple[tuple[str, str], ...] = ()
    if fault.retry_after is not None:
        headers = (("Retry-After", str(fault.retry_after)),)
        details["retryAfterSeconds"] = fault.retry_after
    return Refusal(
        code, said, reason=REASONS.get(code, "Unknown"), details=details, headers=headers
    )
