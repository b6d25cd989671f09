"""Real peers on loopback: an upstream that echoes, and a client that writes raw bytes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import anyio
import anyio.abc

from truepenny.sandbox.network.address import IP
from truepenny.sandbox.network.allow import read_allowed
from truepenny.sandbox.network.proxy import ConnectProxy, ProxyLimits
from truepenny.sandbox.plan import Account

ME = Account("me", os.geteuid(), os.getegid(), drop=False)
PUBLIC = ip_address("1.1.1.1")


class Names:
    """A resolver with a table; it notes what it was asked."""

    def __init__(self, **table: str) -> None:
        self.table = {f"{name}.example": text.split() for name, text in table.items()}
        self.asked: list[str] = []

    async def __call__(self, name: str, port: int) -> tuple[IP, ...]:
        self.asked.append(name)
        if name not in self.table:
            raise OSError("no such name")
        return tuple(ip_address(text) for text in self.table[name])


@asynccontextmanager
async def echo(
    before: bytes = b"", *, hang_up: bool = False, host: str = "127.0.0.1"
) -> AsyncIterator[int]:
    """Serve on loopback; yield the port. What comes is sent back, and its end ends it.

    `hang_up` closes at once, after `before`.
    """

    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            if before:
                await stream.send(before)
            if hang_up:
                return
            try:
                async for data in stream:
                    await stream.send(data)
            except anyio.BrokenResourceError:
                pass

    listener = await anyio.create_tcp_listener(local_host=host)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield port
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def proxying(
    folder: Path, *allowed: str, names: Names | None = None, limits: ProxyLimits | None = None
) -> AsyncIterator[tuple[ConnectProxy, Path]]:
    proxy = ConnectProxy(read_allowed(allowed), resolver=names or Names(), limits=limits)
    path = folder / "p.sock"
    with anyio.fail_after(30):
        async with proxy.listening(path, ME):
            yield proxy, path


@asynccontextmanager
async def upstream(
    folder: Path,
    host: str = "127.0.0.1",
    *,
    names: Names | None = None,
    limits: ProxyLimits | None = None,
    before: bytes = b"",
    hang_up: bool = False,
) -> AsyncIterator[tuple[ConnectProxy, Path, int]]:
    """An echo and a proxy that lets through to it under the given host."""
    async with echo(before, hang_up=hang_up) as port:
        entry = f"{host}:{port} private"
        async with proxying(folder, entry, names=names, limits=limits) as (proxy, path):
            yield proxy, path, port


async def talk(path: Path, *parts: bytes, end: bool = True) -> bytes:
    """Write the parts, close our side, and read to the end."""
    async with await anyio.connect_unix(path) as stream:
        try:
            for part in parts:
                await stream.send(part)
            if end:
                await stream.send_eof()
        except (anyio.BrokenResourceError, OSError):
            pass  # it was answered before all of it was written
        got = b""
        try:
            async for data in stream:
                got += data
        except anyio.BrokenResourceError:
            pass
        return got


def connect_line(host: str, port: int, more: str = "") -> bytes:
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{more}\r\n".encode()
