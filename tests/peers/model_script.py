"""What the model server is told to answer: turns, refusals and misbehaviours, as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """One tool call. `raw` is sent instead of the arguments' JSON (to send something broken)."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    raw: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def json(self) -> str:
        return json.dumps(dict(self.arguments)) if self.raw is None else self.raw


@dataclass(frozen=True)
class Counts:
    """Tokens; `input` without what came from the cache, as in `truepenny.model.usage`."""

    input: int = 100
    output: int = 20
    cached: int = 0
    written: int = 0
    reasoning: int = 0
    cost: float | None = None


@dataclass(frozen=True)
class Reply:
    """One answer, in any of the three protocols.

    `stop` is the wire's own word and normally chosen from the content. `piece` is how many
    characters go into one delta. `edit` changes the rendered events before they are sent.
    Transport: `split` bytes per chunk; `stall` goes silent `before` the head, after the `head`,
    or after that many events; `cut` closes the connection after that many bytes of the body.
    `close` ends the body after the last event without the chunked end (an abrupt EOF).
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    counts: Counts | None = Counts()
    stop: str = ""
    signature: str = "sig-1"
    piece: int = 16
    edit: Callable[[list[bytes]], list[bytes]] | None = None
    content_type: str = "text/event-stream"
    split: int | None = None
    stall: str | int = ""
    cut: int | None = None


@dataclass(frozen=True)
class Refuse:
    """An error answer. With `body` empty the provider's own error shape is used."""

    status: int
    message: str = "refused"
    type: str = ""
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = "application/json"


@dataclass(frozen=True)
class Recorded:
    """One request as the server read it."""

    protocol: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    raw: bytes = field(repr=False, default=b"")
    connection: int = 0


def insert(position: int, *frames: bytes) -> Callable[[list[bytes]], list[bytes]]:
    """Put raw events in before the one at `position`."""
    return lambda events: [*events[:position], *frames, *events[position:]]


def repeat(position: int) -> Callable[[list[bytes]], list[bytes]]:
    """Send one event twice."""
    return lambda events: [*events[: position + 1], *events[position:]]


def drop_last(count: int) -> Callable[[list[bytes]], list[bytes]]:
    """Leave out the last events: a stream that just ends."""
    return lambda events: events[:-count]
