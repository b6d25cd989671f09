"""One command over an open connection: what came back, and how the channel ended."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import anyio

from truepenny.execute.ending import ExitFact

if TYPE_CHECKING:
    import asyncssh

Stderr = bool
"""Whether bytes are of standard error."""

ANSWER_BYTES = 4096
"""Of a short answer to ourselves."""


class Channel:
    """A running command. `ended` is set when it ended or nothing more can come, `closed` when the
    channel is closed, so that all output is there. `exit` is what was observed; both parts None
    where the host did not say."""

    def __init__(self, on_data: Callable[[bytes, Stderr], None]) -> None:
        self.ended = anyio.Event()
        self.closed = anyio.Event()
        self.exit = ExitFact()
        self.signal_name = ""
        self.lost: Exception | None = None
        """Why the connection was lost; None where the channel was closed in order."""
        self.received = 0
        self._on_data = on_data
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    async def open(
        self, ssh: asyncssh.SSHClientConnection, command: str, stdin: bytes = b""
    ) -> None:
        """Start the command, `stdin` its whole input. Raises asyncssh.Error and OSError."""
        import asyncssh
        from asyncssh.constants import EXTENDED_DATA_STDERR

        outer = self

        class Session(asyncssh.SSHClientSession[bytes]):
            """Hands on what asyncssh tells."""

            def data_received(self, data: bytes, datatype: int | None) -> None:
                outer.received += len(data)
                outer._on_data(data, datatype == EXTENDED_DATA_STDERR)

            def exit_status_received(self, status: int) -> None:
                outer.exit = ExitFact(status, status)
                outer.ended.set()

            def exit_signal_received(
                self, signal: str, core_dumped: bool, msg: str, lang: str
            ) -> None:
                outer.signal_name = signal
                outer.exit = ExitFact(signal=_number(signal))
                outer.ended.set()

            def connection_lost(self, exc: Exception | None) -> None:
                outer.lost = exc
                outer.ended.set()
                outer.closed.set()

        # Its own annotation leaves open whether text or bytes come.
        opened: tuple[asyncssh.SSHClientChannel[bytes], object] = await cast(
            "Any", ssh
        ).create_session(Session, command, encoding=None)
        self._channel = opened[0]
        if stdin:
            cast("Any", self._channel).write(stdin)
        self._channel.write_eof()

    def stop_reading(self) -> None:
        """Take no more: the host is held back by a full window."""
        if self._channel is not None:
            self._channel.pause_reading()

    def abort(self) -> None:
        """Give the channel up. Ends nothing on the host."""
        if self._channel is not None:
            self._channel.abort()


async def ask(
    ssh: asyncssh.SSHClientConnection, command: str, seconds: float
) -> tuple[str, ExitFact]:
    """Run a command of ours whose answer is short; return its standard output and its exit.

    Raises TimeoutError, asyncssh.Error, OSError. A longer answer is cut.
    """
    kept = bytearray()

    def keep(data: bytes, of_stderr: Stderr) -> None:
        if not of_stderr and len(kept) < ANSWER_BYTES:
            kept.extend(data[: ANSWER_BYTES - len(kept)])

    channel = Channel(keep)
    with anyio.fail_after(seconds):
        try:
            await channel.open(ssh, command)
            await channel.closed.wait()
        finally:
            channel.abort()
    return kept.decode("utf-8", "replace"), channel.exit


def _number(name: str) -> int | None:
    """Return the number that a signal has here; None for a name that we do not know."""
    try:
        return signal.Signals[f"SIG{name}"].value
    except KeyError:
        return None
