"""One HTTP exchange: the request as read from ASGI, and the reply as data."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from truepenny.demo.server.status import Refusal
from truepenny.demo.server.value import Object

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_LIMIT = 1 << 20
"""Bytes of a request body that are read; a review is far smaller, anything longer is refused."""

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked. `query` keeps the last value of a repeated key; `pairs` keeps all of them."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    pairs: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""

    @property
    def accept(self) -> str:
        """Return the Accept header."""
        return self.headers.get("accept", "")

    def flag(self, name: str) -> bool:
        """Read a boolean query parameter."""
        return self.query.get(name, "").lower() in ("true", "1")

    def number(self, name: str) -> int | None:
        """Read a whole, non-negative query parameter; None where absent; raises Refusal 400."""
        written = self.query.get(name, "")
        if not written:
            return None
        try:
            value = int(written)
        except ValueError:
            raise Refusal(400, f'strconv.ParseInt: parsing "{written}": invalid syntax') from None
        if value < 0:
            raise Refusal(400, f"{name}: must be greater than or equal to 0")
        return value


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered: whole bytes, or a stream that is sent chunk by chunk."""

    status: int
    body: bytes | AsyncIterator[bytes]
    media: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


def json_reply(
    value: Object, status: int = 200, media: str = JSON, headers: tuple[tuple[str, str], ...] = ()
) -> Reply:
    """Answer with one JSON object."""
    return Reply(status, json.dumps(value, ensure_ascii=False).encode() + b"\n", media, headers)


def refusal_reply(refusal: Refusal) -> Reply:
    """Answer with a `Status`."""
    return json_reply(refusal.to_json(), refusal.code, headers=refusal.headers)


def head(scope: Scope) -> Request:
    """Read everything but the body."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return Request(
        scope.get("method", "GET"),
        scope["path"],
        dict(pairs),
        tuple(pairs),
        {name.decode("latin-1"): content.decode("latin-1") for name, content in scope["headers"]},
    )


async def read_body(receive: Receive) -> bytes:
    """Read the request body; raises Refusal 400 over the limit."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            break
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > BODY_LIMIT:
            raise Refusal(400, f"the request body is larger than {BODY_LIMIT} bytes")
        parts.append(chunk)
        if not message.get("more_body"):
            break
    return b"".join(parts)
