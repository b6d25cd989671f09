"""SSH servers for the machines of an incident, in this process.

A machine without a jump listens on a free port of 127.0.0.1. One behind a jump listens on a socket
file in a private folder, to which nothing but its jump machine forwards: its address exists there
alone. Host keys and the keys to log in with are made at each start.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import asyncssh

from truepenny.demo.host.machine import SSH_PORT, Machine, reply
from truepenny.errors import CouldNotRun

LOOPBACK = "127.0.0.1"

_VERSION = "truepenny_practice_simulator"
"""In the banner of each server, so that nobody takes one for a real machine."""

_BACKLOG = 16

Entries = dict[str, dict[str, Any]]
"""The settings of each machine by its name, as `[hosts.NAME]` holds them."""


@asynccontextmanager
async def serving(machines: Sequence[Machine], folder: Path) -> AsyncGenerator[Entries]:
    """Serve while the context is open; keys and sockets lie in `folder`, which must be private."""
    async with AsyncExitStack() as stack:
        entries: Entries = {}
        for machine in machines:
            behind = {
                (one.address, SSH_PORT): _socket_file(folder, one)
                for one in machines
                if one.jump == machine.name
            }
            server = _Server(machine, folder, behind)
            port = await server.start()
            stack.push_async_callback(server.stop)
            entries[machine.name] = {
                "address": machine.address if machine.jump else LOOPBACK,
                "port": port,
                "user": machine.user,
                "key": f"file:{server.key_file}",
                "description": f"simulated for practice: {machine.description}",
            } | ({"jump": machine.jump} if machine.jump else {})
        yield entries


def _socket_file(folder: Path, machine: Machine) -> str:
    return str(folder / f"{machine.name}.sock")


def _behind_a_jump(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
    except OSError as error:
        listener.close()
        raise CouldNotRun(
            f"cannot listen on {path}: {error}",
            where="practice host",
            remedy="Set TMPDIR to a folder with a shorter path; a socket's has 107 bytes at most.",
        ) from error
    return listener


def _new_key() -> asyncssh.SSHKey:
    # Its annotations leave the type of its further options open.
    return cast("Any", asyncssh).generate_private_key("ssh-ed25519")


class _Server:
    """One machine's server. `behind` are the sockets that it forwards to, by address and port."""

    def __init__(self, machine: Machine, folder: Path, behind: dict[tuple[str, int], str]) -> None:
        self.key_file = folder / f"{machine.name}.key"
        self._machine = machine
        self._folder = folder
        self._behind = behind
        self._login = _new_key()
        self._open: set[asyncssh.SSHServerConnection] = set()
        self._acceptor: asyncssh.SSHAcceptor | None = None

    async def start(self) -> int:
        """Listen; return the port that the machine is reached at."""
        text = self._login.export_private_key()
        descriptor = os.open(self.key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        if self._machine.jump:
            listener, port = _behind_a_jump(_socket_file(self._folder, self._machine)), SSH_PORT
        else:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.bind((LOOPBACK, 0))
            port = listener.getsockname()[1]
        listener.listen(_BACKLOG)
        self._acceptor = await asyncssh.create_server(
            self._owner,
            sock=listener,
            config=None,
            server_version=_VERSION,
            server_host_keys=[_new_key()],
            process_factory=self._run,
            encoding=None,
        )
        return port

    async def stop(self) -> None:
        """Close every connection and the listener."""
        assert self._acceptor is not None, "started before"
        self._acceptor.close()
        for connection in list(self._open):
            connection.abort()
        await self._acceptor.wait_closed()

    def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        stdout, stderr, code = reply(self._machine, process.command or "")
        process.stdout.write(stdout)
        process.stderr.write(stderr)
        process.exit(code)

    def _owner(self) -> asyncssh.SSHServer:
        outer, login = self, self._login.get_fingerprint()

        class Owner(asyncssh.SSHServer):
            """Lets the one account in by its one key, and forwards to the machines behind."""

            def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
                self._connection = conn
                outer._open.add(conn)

            def connection_lost(self, exc: Exception | None) -> None:
                outer._open.discard(self._connection)

            def begin_auth(self, username: str) -> bool:
                return True

            def public_key_auth_supported(self) -> bool:
                return True

            def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
                return username == outer._machine.user and key.get_fingerprint() == login

            def connection_requested(
                self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
            ) -> Any:
                path = outer._behind.get((dest_host, dest_port))
                return self._connection.forward_unix_connection(path) if path else False

        return Owner()
