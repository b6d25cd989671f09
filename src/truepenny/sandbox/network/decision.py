"""What the proxy decided, as facts for the result: each connection with its verdict and bytes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from .address import Verdict
from .request import Fault

MOST_DECISIONS = 1000
"""Kept of one proxy: the newest, and a count of those before them."""


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
    """How a tunnel ended, if it has."""

    OPEN = "open"
    CLOSED = "closed"
    IDLE = "idle"
    TOTAL = "time_limit"
    STOPPED = "stopped"
    """The proxy was closed."""


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
    `sent` from the run, `received` for it. `end` is None for refusals.
    """

    verdict: Word
    destination: str = ""
    address: str = ""
    sent: int = 0
    received: int = 0
    end: End | None = None

    def line(self) -> str:
        """Return it for people: `a.example:443 allowed, 517 bytes out, 4096 in, closed`."""
        what = f"{self.destination or 'unreadable request'} {self.verdict}"
        if self.end is None:
            return what
        return f"{what}, {self.sent} bytes out, {self.received} in, {self.end}"


class Decisions:
    """The decisions of one proxy, which may serve many runs one after another.

    Take a `mark` before a run and ask `since` after it. What other runs of the same proxy did
    meanwhile is among the answer, for a connection does not tell whose it is.
    """

    def __init__(self) -> None:
        self._kept: deque[Decision] = deque(maxlen=MOST_DECISIONS)
        self._total = 0

    def add(self, decision: Decision) -> None:
        """Append one; the oldest makes room."""
        self._kept.append(decision)
        self._total += 1

    def mark(self) -> int:
        """Return the place behind the last decision."""
        return self._total

    def since(self, mark: int = 0) -> list[Decision]:
        """Return what is kept of the decisions from a mark on, in their order."""
        return list(self._kept)[max(0, mark - (self._total - len(self._kept))) :]

    def omitted(self, mark: int = 0) -> int:
        """Return how many from a mark on are not kept any more."""
        return max(0, self._total - len(self._kept) - mark)

    def lines(self, mark: int = 0) -> list[str]:
        """Return them for people, one a line; first how many are missing before them."""
        found = [decision.line() for decision in self.since(mark)]
        missing = self.omitted(mark)
        return [f"{missing} earlier ones are not kept", *found] if missing else found


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
