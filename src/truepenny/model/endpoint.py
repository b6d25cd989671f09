"""Where a provider is and how to reach it. Holds a secret, which no representation shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

CONNECT_SECONDS = 10.0
"""A TCP and TLS handshake that takes longer is a wrong address or a dead network."""

FIRST_BYTE_SECONDS = 300.0
"""Reasoning models stay silent for minutes before they write; gateways give up at five."""

IDLE_SECONDS = 120.0
"""Providers send a keep-alive within seconds; two silent minutes are a dead stream
(spec/field.md B6, row 62)."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds; None waits for ever. There is no total limit: a long answer is not a fault.

    `connect` ends a handshake, `first_byte` the wait from the sent request to the first byte of
    the answer's body, `idle` the silence between two chunks (a keep-alive comment ends a silence).
    """

    connect: float | None = CONNECT_SECONDS
    first_byte: float | None = FIRST_BYTE_SECONDS
    idle: float | None = IDLE_SECONDS


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider's address and credential.

    `provider` is the name in the settings. `base_url` ends before the wire's own path, as the
    provider's documentation writes it (`https://api.anthropic.com`, `https://api.openai.com/v1`).
    `api_key` may be empty for servers that want none. `headers` are sent as they are, after the
    wire's own, so that a gateway's demands win.
    """

    provider: str
    base_url: str
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeouts: Timeouts = Timeouts()

    @property
    def host(self) -> str:
        """Host and port, lower case: what learned capabilities are filed under."""
        try:
            return urlsplit(self.base_url).netloc.rpartition("@")[2].lower()
        except ValueError:
            # No address at all; the request will say so.
            return ""

    @property
    def loopback(self) -> bool:
        """Whether it is on this machine: such a server is never looked for behind a proxy."""
        try:
            name = urlsplit(self.base_url).hostname or ""
            return name == "localhost" or ip_address(name).is_loopback
        except ValueError:
            return False

    @property
    def encrypted(self) -> bool:
        """Whether reaching it needs TLS; plain `http` never pays for certificates."""
        return not self.base_url.lower().startswith("http://")

    def url(self, path: str) -> str:
        """Return the address of a wire's path, `path` starting with a slash."""
        return self.base_url.rstrip("/") + path
