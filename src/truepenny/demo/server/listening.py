"""The HTTP server under the practice cluster: uvicorn on a socket that is given to it."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import anyio.lowlevel
import uvicorn.config
import uvicorn.server

from truepenny.demo.server.app import PracticeApp


def _web_socket(*args: Any, **kwargs: Any) -> Any:
    # Loaded with the first exec; most runs have none.
    from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

    return WSProtocol(*args, **kwargs)


class _Server(uvicorn.server.Server):
    def __init__(self, config: uvicorn.config.Config, up: threading.Event) -> None:
        super().__init__(config)
        self._up = up

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        # A TLS peer that does not answer the goodbye keeps its connection: drop those.
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await anyio.lowlevel.checkpoint()


class Listening:
    """One server. `up` is set when it accepts; `stop` may be called from any thread."""

    def __init__(
        self, folder: Path, certificate: bytes, key: bytes, keep_alive: int, stop_limit: float
    ) -> None:
        self.up = threading.Event()
        self._context = _context(folder, certificate, key)
        self._keep_alive = keep_alive
        self._stop_limit = stop_limit
        self._server: _Server | None = None

    async def serve(self, app: PracticeApp, listener: socket.socket) -> None:
        """Serve until stopped; open answers then get `stop_limit` seconds."""
        config = uvicorn.config.Config(
            app,  # pyright: ignore[reportArgumentType]
            http="h11",
            ws=_web_socket,  # pyright: ignore[reportArgumentType]
            interface="asgi3",
            lifespan="off",
            log_config=None,
            # Dropped connections are faults asked for, not errors to report.
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_keep_alive=self._keep_alive,
            timeout_graceful_shutdown=self._stop_limit,  # pyright: ignore[reportArgumentType]
        )
        config.load()
        config.ssl = self._context
        self._server = _Server(config, self.up)
        await self._server.serve([listener])

    def stop(self) -> None:
        """Ask it to end."""
        if self._server is not None:
            self._server.should_exit = True


def _context(folder: Path, certificate: bytes, key: bytes) -> ssl.SSLContext:
    """Load the key from a file that exists only for the load: ssl reads no other way."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    path = folder / "server.pem"
    path.touch(mode=0o600)
    try:
        path.write_bytes(certificate + key)
        context.load_cert_chain(path)
    finally:
        path.unlink()
    return context
