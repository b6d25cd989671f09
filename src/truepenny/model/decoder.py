"""From an answer's bytes to events, without any network: the part that every wire shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, cast

from truepenny.system.ids import Ids, RandomIds

from .assembly import Assembly
from .event import MessageEnd, ModelEvent, StreamFailed, TextDelta, ThinkingDelta, ToolCallStart
from .failure import Failure, FailureKind
from .json_value import decode
from .message import StopReason
from .profile import Profile
from .refusal import Refusal, read_refusal
from .sse import EventTooLarge, SseEvent, SseParser

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Bytes of one stream: many times the longest answer that a model's output limit allows, with
every part of it repeated. A server that never stops must not eat the memory."""

_SHOWN = (TextDelta, ThinkingDelta, ToolCallStart)


def _none_taken() -> set[str]:
    return set()


class Decoder(ABC):
    """Feed bytes until `ended`; call `finish` at the end of the stream.

    The last event is `MessageEnd` or `StreamFailed`, once; bytes after it are ignored. A wire
    implements `_event` and `_eof` and calls `_complete`, `_fail` or `_cut`.
    """

    def __init__(
        self,
        profile: Profile,
        origin: str,
        ids: Ids | None = None,
        taken: Callable[[], set[str]] = _none_taken,
    ) -> None:
        self.ended = False
        self._profile = profile
        self._message = Assembly(origin, ids or RandomIds(), taken)
        self._parser = SseParser()
        self._shown = False
        self._heard = False
        self._bytes = 0
        self._stop: StopReason | None = None
        """Why the model stopped, once the provider said so: the content is complete then."""

    @abstractmethod
    def _event(self, name: str, data: dict[str, Any]) -> None:
        """Take one event of the protocol; `name` is the SSE event field."""

    @abstractmethod
    def _eof(self) -> None:
        """The stream ended without the protocol's own end."""

    def _sentinel(self, data: bytes) -> bool:
        """Whether the data is the protocol's end mark instead of JSON."""
        return False

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take the next bytes, return the events they bring."""
        self._bytes += len(chunk)
        try:
            if self._bytes > MAX_ANSWER_BYTES:
                raise EventTooLarge(f"the stream is over {MAX_ANSWER_BYTES} bytes")
            events = self._parser.feed(chunk)
        except EventTooLarge as error:
            self._fail(Refusal(200, error.message), FailureKind.SERVER_ERROR)
            return self._take()
        for event in events:
            if self.ended:
                break
            self._read(event)
        return self._take()

    def finish(self) -> list[ModelEvent]:
        """The bytes are at their end; return the terminal event if none came before."""
        for event in self._parser.finish():
            # An event without its blank line counts if it is whole; a cut one is no bad JSON.
            if not self.ended:
                self._read(event, maybe_cut=True)
        if not self.ended:
            self._eof()
        return self._take()

    def fail(self, kind: FailureKind, message: str) -> list[ModelEvent]:
        """End the stream from outside (a broken connection, a timeout).

        An answer whose stop reason is there already is complete, and only its farewell is missing.
        """
        if not self.ended and self._stop is not None:
            self._eof()
        if not self.ended:
            self._fail(Refusal(200, message), kind)
        return self._take()

    def _read(self, event: SseEvent, *, maybe_cut: bool = False) -> None:
        if self._sentinel(event.data):
            return
        try:
            value = decode(event.data)
        except ValueError as error:
            if maybe_cut:
                return
            quoted = event.data[:100].decode("utf-8", "backslashreplace")
            self._message.quirk("bad_json", f"{error}: {quoted}")
            return
        self._heard = True
        if isinstance(value, dict):
            self._event(event.name, cast("dict[str, Any]", value))
        else:
            self._message.quirk("bad_json", f"not an object but a {type(value).__name__}")

    def _take(self) -> list[ModelEvent]:
        events = self._message.events
        self._message.events = []
        return events

    def _complete(self, stop: StopReason) -> None:
        message = self._message.finish(stop)
        if message.text.strip() or message.tool_calls:
            self.ended = True
            self._message.events.append(MessageEnd(message))
        elif stop is StopReason.REFUSAL:
            self._fail(Refusal(200, "the provider refused to answer"), FailureKind.CONTENT_POLICY)
        else:
            what = "reasoning only" if message.content else "nothing"
            self._fail(
                Refusal(200, f"the model wrote {what} and stopped with {stop}"),
                FailureKind.EMPTY_RESPONSE,
            )

    def _cut(self) -> None:
        if self._parser.stray and not self._heard:
            # An error in place of events: bare JSON, or JSON in a field of another name.
            _, _, after = self._parser.stray.partition(b":")
            body = self._parser.stray if self._parser.stray.startswith(b"{") else after
            if body.lstrip().startswith(b"{"):
                self._fail(read_refusal(200, body))
                return
        self._fail(
            Refusal(200, "the stream ended before the answer was complete"), FailureKind.NETWORK
        )

    def _fail(self, refusal: Refusal, kind: FailureKind | None = None) -> None:
        self.ended = True
        events = self._message.events
        self._shown = self._shown or any(isinstance(event, _SHOWN) for event in events)
        partial = self._message.partial()
        failure = Failure(
            kind or refusal.kind,
            refusal.message or "the provider gave no reason",
            status=refusal.status,
            phase="stream",
            partial=partial is not None or self._shown,
        )
        events.append(StreamFailed(failure, partial))
