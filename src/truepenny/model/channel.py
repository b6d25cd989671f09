"""The HTTP side of a provider: one POST whose answer is read as it comes, with three timeouts.

A client is made at the first request and reused. For a plain `http` endpoint no certificates are
loaded (that costs more CPU than a whole run of turns). Redirects are not followed: they would
carry the key and the conversation elsewhere. The standard proxy variables (`HTTPS_PROXY`,
`HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) are honoured for every host but this machine itself, and
`SSL_CERT_FILE` names other certificate authorities.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import anyio

from truepenny.errors import TruepennyError

from .endpoint import Endpoint
from .failure import FailureKind

if TYPE_CHECKING:
    import httpx2

ERROR_BODY_SECONDS = 10.0
"""How long the words of a refusal are waited for; its status is known already."""

DRAIN_SECONDS = 0.25
"""How long the end of a finished answer is waited for, so that the connection can be reused."""


_NOT_IN_HEADER = re.compile(r"[\r\n\0]")


class ChannelFailed(TruepennyError):
    """The exchange broke off; `kind` and `phase` as in `Failure`."""

    def __init__(self, kind: FailureKind, message: str, phase: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.phase = phase


class Channel:
    """Connections to one endpoint; used from one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: httpx2.AsyncClient | None = None
        self._answered = False

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a body and wait for the answer's head; the caller closes the reply.

        Raises ChannelFailed.
        """
        import httpx2

        limits = self._endpoint.timeouts
        timeout = httpx2.Timeout(
            connect=limits.connect, read=limits.first_byte, write=limits.first_byte, pool=None
        )
        try:
            if any(_NOT_IN_HEADER.search(value) for value in headers.values()):
                # The transport would only notice with the connection already open.
                raise ValueError
            client = self._open()
            request = client.build_request(
                "POST", url, content=body, headers=dict(headers), timeout=timeout
            )
        except (ValueError, ImportError, OSError, httpx2.InvalidURL) as error:
            # The text of such an error can quote a header or a proxy, and so a credential.
            what = "its address, a header, a proxy variable or a certificate file cannot be used"
            raise ChannelFailed(
                FailureKind.UNKNOWN, f"{type(error).__name__}: {what}", "request"
            ) from None
        try:
            response = await self._send(client, request)
        except httpx2.ConnectTimeout:
            raise ChannelFailed(
                FailureKind.TIMEOUT,
                f"no connection to {self._endpoint.host} within {limits.connect:g} s",
                "connect",
            ) from None
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            what = f"cannot connect to {self._endpoint.host}: {_words(error)}"
            raise ChannelFailed(FailureKind.NETWORK, what, "connect") from None
        except httpx2.TimeoutException:
            raise ChannelFailed(
                FailureKind.TIMEOUT, f"no answer within {limits.first_byte:g} s", "first_byte"
            ) from None
        except httpx2.NetworkError as error:
            raise ChannelFailed(FailureKind.NETWORK, _words(error), "first_byte") from None
        except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as error:
            what = "the address or a header is not valid"
            raise ChannelFailed(
                FailureKind.UNKNOWN, f"{type(error).__name__}: {what}", "request"
            ) from None
        except httpx2.HTTPError as error:
            raise ChannelFailed(FailureKind.NETWORK, _words(error), "first_byte") from None
        # From here on our own limits count: the transport knows one read timeout for all chunks.
        request.extensions["timeout"]["read"] = None
        self._answered = True
        return Reply(response, self._endpoint)

    async def _send(self, client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
        """Send; once more where a kept connection turns out to be closed.

        A server that drops an idle connection while a request is on its way to it has not read
        that request: it closes without a byte. On a first connection the same sight is a fault.
        """
        import httpx2

        try:
            return await client.send(request, stream=True)
        except httpx2.RemoteProtocolError:
            if not self._answered:
                raise
            self._answered = False
            return await client.send(request, stream=True)

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            import httpx2

            # One context for the direct way and every proxy: each costs a read of all certificates.
            # `verify=False` is never weaker here: with plain http there is nothing to verify,
            # and without redirects no request of this client reaches another scheme.
            self._client = httpx2.AsyncClient(
                verify=httpx2.create_ssl_context() if self._endpoint.encrypted else False,
                follow_redirects=False,
                trust_env=not self._endpoint.loopback,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=8),
            )
        return self._client


class Reply:
    """An answer whose body is still coming."""

    def __init__(self, response: httpx2.Response, endpoint: Endpoint) -> None:
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._timeouts = endpoint.timeouts
        self._chunks: AsyncIterator[bytes] | None = None

    @property
    def content_type(self) -> str:
        """The media type, lower case, without parameters; empty if none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def chunk(self) -> bytes:
        """Return the next bytes, empty at the end. Raises ChannelFailed."""
        import httpx2

        first = self._chunks is None
        chunks = self._chunks
        if chunks is None:
            chunks = self._chunks = self._response.aiter_bytes()
        limit = self._timeouts.first_byte if first else self._timeouts.idle
        phase = "first_byte" if first else "stream"
        try:
            with anyio.fail_after(limit):
                return await anext(chunks)
        except StopAsyncIteration:
            return b""
        except TimeoutError:
            raise ChannelFailed(
                FailureKind.TIMEOUT, f"the stream was silent for {limit:g} s", phase
            ) from None
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise ChannelFailed(FailureKind.NETWORK, _words(error), phase) from None

    async def read(self, limit: int, head: bytes = b"") -> bytes:
        """Return `head` and what follows it, at most `limit` bytes and `ERROR_BODY_SECONDS`.

        A break or silence ends it without a word: this is the body of an error, whose status is
        the failure that counts.
        """
        body = bytearray(head)
        with anyio.move_on_after(ERROR_BODY_SECONDS):
            try:
                while len(body) < limit:
                    chunk = await self.chunk()
                    if not chunk:
                        break
                    body += chunk
            except ChannelFailed:
                pass
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Read the rest of a finished answer if it comes at once."""
        with anyio.move_on_after(DRAIN_SECONDS):
            try:
                while await self.chunk():
                    pass
            except ChannelFailed:
                pass

    async def close(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        await self._response.aclose()


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
