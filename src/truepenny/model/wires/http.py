"""What the three HTTP wires share: ask, learn from a refusal, decode, and end with one event."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import anyio

from truepenny.model import capability, learning
from truepenny.model.capability import CapabilityMemory
from truepenny.model.channel import Channel, ChannelFailed, Reply
from truepenny.model.decoder import Decoder
from truepenny.model.endpoint import Endpoint
from truepenny.model.event import Learned, MessageEnd, ModelEvent, StreamFailed
from truepenny.model.failure import Failure
from truepenny.model.message import AssistantMessage, Message, ToolCall
from truepenny.model.profile import Profile
from truepenny.model.refusal import MAX_ERROR_BODY, Refusal, read_refusal, shorten
from truepenny.model.request import ModelRequest, ToolSchema
from truepenny.model.retry_after import retry_after
from truepenny.system.clock import Clock, SystemClock
from truepenny.system.ids import Ids, RandomIds

from .encoding import ToolsEncoding

CLOSE_SECONDS = 1.0
"""How long the end of a request may take after its consumer has gone."""

MASK = "[REDACTED:api_key]"

_MIN_SECRET = 8
"""A header value shorter than this is a flag or a version, not a credential."""

_LONGEST_LEAD = 1024
"""Blank bytes before an event stream that are waited through."""

_SSE_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":", b"\xef\xbb\xbf")


class HttpModel(ABC):
    """A model behind a wire. Subclasses say how to encode a request and how to decode an answer.

    `redact` is applied to every message of a failure after the credential was masked.
    """

    wire: ClassVar[str]
    learnable: ClassVar[frozenset[str]]

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile,
        capabilities: CapabilityMemory | None = None,
        *,
        redact: Callable[[str], str] | None = None,
        ids: Ids | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.profile = profile
        self.origin = f"{self.wire}:{endpoint.provider}"
        self._capabilities = capabilities or CapabilityMemory()
        self._redact = redact
        self._ids = ids or RandomIds()
        self._clock = clock or SystemClock()
        self._channel = Channel(endpoint)
        self._tools = ToolsEncoding(self._tool)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.endpoint.base_url!r})"

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.endpoint.provider}/{self.profile.model}"

    @property
    def profile_in_force(self) -> Profile:
        """The profile with what this server taught us so far."""
        lessons = self._capabilities.lessons(self.endpoint, self.profile.model)
        return capability.apply(self.profile, lessons) if lessons else self.profile

    async def close(self) -> None:
        """Release the connections; safe to call twice."""
        await self._channel.close()

    @abstractmethod
    def encode(self, request: ModelRequest, profile: Profile) -> bytes:
        """Return the body; each message is encoded once and its bytes are kept on it."""

    @abstractmethod
    def decoder(self, request: ModelRequest, profile: Profile) -> Decoder:
        """Return a decoder for the answer to a request."""

    @abstractmethod
    def _tool(self, tool: ToolSchema) -> dict[str, Any]:
        """Return one tool schema in the wire's form."""

    @abstractmethod
    def _url(self) -> str: ...

    @abstractmethod
    def _auth(self, key: str) -> dict[str, str]:
        """Return the wire's own headers; `key` is empty if the endpoint has none."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask; see `truepenny.model.event` for the order of events.

        A refusal that teaches a capability costs one more request, and each capability at most
        one: when the other form is refused too, the lesson is forgotten and the refusal stands.
        """
        tried: set[str] = set()
        while True:
            profile = self.profile_in_force
            terminal: MessageEnd | StreamFailed | None = None
            refusal: Refusal | None = None
            headers: Mapping[str, str] = {}
            reply: Reply | None = None
            decoder: Decoder | None = None
            try:
                reply = await self._channel.post(
                    self._url(), self.encode(request, profile), self._headers()
                )
                headers = reply.headers
                refusal, chunk = await self._head(reply)
                if refusal is None:
                    decoder = self.decoder(request, profile)
                    while terminal is None:
                        for event in decoder.feed(chunk) if chunk else decoder.finish():
                            if isinstance(event, MessageEnd | StreamFailed):
                                terminal = event
                            else:
                                yield event
                        if terminal is None:
                            chunk = await reply.chunk()
                    if chunk:
                        await reply.drain()
            except ChannelFailed as error:
                for event in self._broken(error, decoder):
                    if isinstance(event, MessageEnd | StreamFailed):
                        terminal = event
                    else:
                        yield event
            finally:
                if reply is not None:
                    # A cancelled request must not leave its connection half read in the pool.
                    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                        await reply.close()
            if terminal is not None:
                yield self._named(terminal, headers)
                return
            assert refusal is not None
            lesson = learning.lesson(refusal, profile, self.learnable - tried)
            if lesson is None:
                again = learning.lesson(refusal, profile, tried)
                if again is not None:
                    # Refused in both forms: what this request taught is no better.
                    self._capabilities.forget(self.endpoint, self.profile.model, again.capability)
                yield self._named(StreamFailed(self._refused(refusal)), headers)
                return
            tried.add(lesson.capability)
            self._capabilities.learn(
                self.endpoint,
                self.profile.model,
                replace(lesson, because=self._masked(lesson.because)),
            )
            yield Learned(lesson.capability, lesson.value, self._masked(lesson.because))

    async def _head(self, reply: Reply) -> tuple[Refusal | None, bytes]:
        """Return a refusal, or None and the first chunk of an event stream."""
        if reply.status >= 300:
            body = await reply.read(MAX_ERROR_BODY)
            if reply.status < 400:
                where = reply.headers.get("location", "another address")
                return Refusal(reply.status, shorten(f"sent on to {where}; not followed")), b""
            return read_refusal(reply.status, body, reply.content_type), b""
        if reply.content_type == "text/event-stream":
            return None, await reply.chunk()
        first = await reply.chunk()
        # Some servers stream without saying so; the first chunk may be a single byte of it.
        while _may_become_events(first) and (chunk := await reply.chunk()):
            first += chunk
        if first.lstrip().startswith(_SSE_STARTS):
            return None, first
        body = await reply.read(MAX_ERROR_BODY, first)
        refusal = read_refusal(reply.status, body, reply.content_type)
        what = reply.content_type or "something without a type"
        return replace(
            refusal, message=shorten(f"{what} came instead of an event stream: {refusal.message}")
        ), b""

    def _headers(self) -> dict[str, str]:
        # A key that was read from a file often ends in a newline, which no header can carry.
        headers = self._auth(self.endpoint.api_key.strip())
        headers["content-type"] = "application/json"
        headers["accept"] = "text/event-stream"
        # A compressing proxy holds back small events.
        headers["accept-encoding"] = "identity"
        for name, value in self.endpoint.headers.items():
            headers[name.lower()] = value
        return headers

    def _broken(self, error: ChannelFailed, decoder: Decoder | None) -> list[ModelEvent]:
        """Return the events of a broken connection, the last one terminal."""
        if decoder is None:
            return [StreamFailed(Failure(error.kind, error.message, phase=error.phase))]
        events = decoder.fail(error.kind, error.message)
        last = events[-1]
        if isinstance(last, StreamFailed):
            events[-1] = StreamFailed(replace(last.failure, phase=error.phase), last.partial)
        return events

    def _refused(self, refusal: Refusal) -> Failure:
        message = refusal.message or "no reason given"
        return Failure(refusal.kind, f"HTTP {refusal.status}: {message}", status=refusal.status)

    def _named(
        self, event: MessageEnd | StreamFailed, headers: Mapping[str, str]
    ) -> MessageEnd | StreamFailed:
        """Complete a failure: names, the wait the provider asks for, nothing secret."""
        if isinstance(event, MessageEnd):
            return event
        failure = event.failure
        wait = retry_after(headers, failure.message, self._clock.now())
        named = replace(
            failure,
            message=self._masked(failure.message),
            retry_after=wait,
            provider=self.endpoint.provider,
            model=self.profile.model,
        )
        return StreamFailed(named, event.partial)

    def _masked(self, message: str) -> str:
        secrets = [self.endpoint.api_key.strip(), *self.endpoint.headers.values()]
        for secret in secrets:
            if len(secret) >= _MIN_SECRET:
                message = message.replace(secret, MASK)
                # A bearer header echoed without its scheme.
                _, _, bare = secret.partition(" ")
                if len(bare) >= _MIN_SECRET:
                    message = message.replace(bare, MASK)
        return self._redact(message) if self._redact else message


def _may_become_events(head: bytes) -> bool:
    """Whether these first bytes leave it open that an event stream begins."""
    word = head.lstrip()
    return len(head) <= _LONGEST_LEAD and any(
        start != word and start.startswith(word) for start in _SSE_STARTS
    )


def taken_ids(messages: Sequence[Message]) -> set[str]:
    """Return the ids of all calls in a history."""
    return {
        part.id
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCall)
    }
