"""What the proxy decided, as facts for the result: each connection with its verdict and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .address import Verdict
from .request import Fault

MOST_DECISIONS = 1000
"""Kept of one run; further ones are counted."""


class Answer(StrEnum):
    """Further verdicts of the proxy itself, beside those of addresses and requests."""

    NOT_ALLOWED = "not_allowed"
    UPSTREAM_FAILED = "upstream_failed"
    TIMEOUT = "request_timeout"
    BUSY = "too_many_connections"
    OURS = "proxy_out_of_resources"
    """The proxy itself could not open a connection; nothing is known about the host."""
    CLOSED = "closed_early"
    """It went away before it had asked for anything."""


class End(StrEnum):
    """How a tunnel ended."""

    CLOSED = "closed"
    IDLE = "idle"
    TOTAL = "time_limit"
    STOPPED = "stopped"
    """The run ended, and the proxy with it."""


Word = Verdict | Fault | Answer

STATUS: dict[Word, tuple[int, str]] = {
    Fault.BAD_REQUEST: (400, "Bad Request"),
    Fault.HEADER_TOO_LARGE: (400, "Bad Request"),
    Answer.NOT_ALLOWED: (403, "Forbidden"),
    Verdict.METADATA: (403, "Forbidden"),
    Verdict.INNER: (403, "Forbidden"),
    Verdict.OUTSIDE: (403, "Forbidden"),
    Fault.METHOD: (405, "Method Not Allowed"),
    Answer.TIMEOUT: (408, "Request Timeout"),
    Verdict.UNRESOLVED: (502, "Bad Gateway"),
    Answer.UPSTREAM_FAILED: (502, "Bad Gateway"),
    Answer.BUSY: (503, "Service Unavailable"),
    Answer.OURS: (503, "Service Unavailable"),
}
"""Refusals on the wire (assistant spec 3.4); `CLOSED` has none, for nobody is there to read it."""

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(slots=True)
class Decision:
    """One connection. `destination` is `host:port` in its one form, empty where none was read.

    `address` is what was connected to, or what decided a refusal. Bytes are those of the tunnel:
    `sent` from the run, `received` for it. `end` is None for refusals; an open tunnel has STOPPED.
    """

    verdict: Word
    destination: str = ""
    address: str = ""
    sent: int = 0
    received: int = 0
    end: End | None = None

    def line(self) -> str:
        """Return it as one line for people: `example.com:443 allowed, 517 bytes out, 4096 in`."""
        what = f"{self.destination or 'unreadable request'} {self.verdict}"
        if self.end is None:
            return what
        return f"{what}, {self.sent} bytes out, {self.received} in"


def answer(word: Word, message: str) -> bytes:
    """Return the whole refusal as it goes over the wire; the body is for people."""
    code, phrase = STATUS[word]
    body = f"{word}: {message}\n".encode()
    allow = "Allow: CONNECT\r\n" if code == 405 else ""
    head = (
        f"HTTP/1.1 {code} {phrase}\r\n{allow}Content-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
