"""Real SSH servers in this process. What they run are real processes, whose ends are looked at."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import asyncssh

Process = asyncssh.SSHServerProcess[bytes]
Handler = Callable[[Process, "Server"], Awaitable[None]]

USER, PASSWORD = "ops", "correct-horse-9"

VARIABLE = "TRUEPENNY_TEST_HOST"
"""In the environment of all that a server runs."""


@dataclass
class Server:
    """One server: what it has seen, and what it still runs."""

    port: int = 0
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    commands: list[str] = field(default_factory=list[str])
    forwarded: list[int] = field(default_factory=list[int])
    logins: list[str] = field(default_factory=list[str])
    connections: list[asyncssh.SSHServerConnection] = field(
        default_factory=list[asyncssh.SSHServerConnection]
    )
    closed: int = 0
    path: str = os.environ["PATH"]
    refusing: bool = False
    """Whether new connections are dropped."""

    def entry(self, **more: Any) -> dict[str, Any]:
        """Its settings, with the password unless another way in is given."""
        way = {} if "auth" in more else {"auth": "password", "password": PASSWORD}
        return {"address": "127.0.0.1", "port": self.port, "user": USER} | way | more

    def living(self) -> list[int]:
        """The processes that it started and that still live."""
        return [pid for pid, _ in self._processes()]

    async def running(self, program: str) -> None:
        """Wait until it runs a program."""
        with anyio.fail_after(10):
            while not any(words.startswith(f"{program}\0") for _, words in self._processes()):
                await anyio.lowlevel.checkpoint()

    def _processes(self) -> list[tuple[int, str]]:
        mark, found = f"{VARIABLE}={self.name}".encode(), list[tuple[int, str]]()
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdecimal() and mark in (folder / "environ").read_bytes():
                    words = (folder / "cmdline").read_text(encoding="utf-8")
                    found.append((int(folder.name), words))
        return found


async def run_shell(process: Process, server: Server) -> None:
    """Run the command by a shell in a session of its own, as OpenSSH's server does."""
    child = await _start(process, server)
    code = await _pumped(child, process)
    if code < 0:
        process.channel.exit_with_signal("KILL")
    else:
        process.exit(code)


async def run_without_status(process: Process, server: Server) -> None:
    """Run the command and say nothing about how it ended."""
    await _pumped(await _start(process, server), process)
    process.close()


async def _start(process: Process, server: Server) -> asyncio.subprocess.Process:
    assert process.command is not None
    return await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", process.command,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, start_new_session=True,
        env={"PATH": server.path, "HOME": "/", VARIABLE: server.name},
    )  # fmt: skip


async def _pumped(child: asyncio.subprocess.Process, process: Process) -> int:
    async def pump(source: asyncio.StreamReader | None, target: Any) -> None:
        assert source is not None
        while data := await source.read(65536):
            # Whether anybody still listens or not: a process here is never held up by that.
            with suppress(OSError, asyncssh.Error):
                target.write(data)
                await target.drain()

    async def feed() -> None:
        assert child.stdin is not None
        with suppress(OSError, asyncssh.Error):
            while data := await process.stdin.read(65536):
                child.stdin.write(data)
                await child.stdin.drain()
        child.stdin.close()

    feeding = asyncio.create_task(feed())
    await asyncio.gather(pump(child.stdout, process.stdout), pump(child.stderr, process.stderr))
    code = await child.wait()
    feeding.cancel()
    return code


@asynccontextmanager
async def serve(
    handler: Handler = run_shell,
    *,
    key: asyncssh.SSHKey | None = None,
    more_keys: tuple[asyncssh.SSHKey, ...] = (),
    authorized: asyncssh.SSHKey | None = None,
    closings: list[str] | None = None,
    label: str = "",
) -> AsyncGenerator[Server]:
    """Serve on a free port. `closings` gets `label` whenever a connection ends."""
    server = Server()
    tasks: set[asyncio.Task[None]] = set()

    class Owner(asyncssh.SSHServer):
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            server.connections.append(conn)
            if server.refusing:
                conn.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            server.closed += 1
            if closings is not None:
                closings.append(label)

        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return authorized is None

        def validate_password(self, username: str, password: str) -> bool:
            server.logins.append(f"{username}:{password}")
            return (username, password) == (USER, PASSWORD)

        def public_key_auth_supported(self) -> bool:
            return authorized is not None

        def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
            server.logins.append(f"{username}:{key.get_fingerprint()}")
            known = None if authorized is None else authorized.get_fingerprint()
            return username == USER and key.get_fingerprint() == known

        def connection_requested(
            self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
        ) -> bool:
            server.forwarded.append(dest_port)
            return True

    def began(process: Process) -> None:
        server.commands.append(process.command or "")
        task = asyncio.ensure_future(handler(process, server))
        tasks.add(task)

    acceptor = await asyncssh.create_server(
        Owner, "127.0.0.1", 0,
        server_host_keys=[key or asyncssh.generate_private_key("ssh-ed25519"), *more_keys],
        process_factory=began, encoding=None,
    )  # fmt: skip
    server.port = acceptor.get_port()
    try:
        yield server
    finally:
        acceptor.close()
        for connection in server.connections:
            connection.abort()
        await acceptor.wait_closed()
        left = server.living()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        await asyncio.gather(*tasks, return_exceptions=True)
    assert left == [], "something was left behind on the host"
