"""One line on one host: dialled, run, read, and ended there when it does not end by itself."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from truepenny.errors import TruepennyError
from truepenny.execute.capture import Capture
from truepenny.execute.command import CaptureLimits
from truepenny.execute.ending import Cause, ExitFact, Leg, Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.offload import Offload
from truepenny.execute.outcome import Classification
from truepenny.execute.process import DRAIN_SECONDS, Stream
from truepenny.execute.shell import NO_BASH, classify_line, with_stages
from truepenny.system.clock import Clock, SystemClock
from truepenny.text.redact import Redactor

from .channel import Channel, Stderr, ask
from .dial import Connection, dial
from .failure import DialFailed, Stage
from .host import Host, Hosts
from .remote_shell import Ended, MarkFilter, end_words, new_token, read_ended, run_words

STOP_AFTER_BYTES = 10 * 1024 * 1024
"""Raw bytes of both streams after which a line is ended there (diagnostics spec 6)."""

END_SECONDS = 25.0
"""For ending what is left: dialling once more, and twice two seconds on the host."""


NO_BASH_THERE = "no_bash"
"""Reason of a line that did not run, for the host has no bash, and sh might read it differently."""


@dataclass(frozen=True, slots=True)
class HostRun:
    """What came of a line. `ended` says what is known of what it left on the host, None where
    there was nothing to end. `seconds_to_connect` is part of the execution's duration."""

    execution: Execution
    meaning: Classification
    connection: Connection
    seconds_to_connect: float
    ended: Ended | None = None
    signal_name: str = ""


async def run_on_host(
    hosts: Hosts,
    host: Host,
    line: str,
    *,
    user: str,
    seconds: float,
    limits: CaptureLimits,
    redactor: Redactor,
    offload: Path | None = None,
    clock: Clock | None = None,
    stdin: bytes | None = None,
) -> HostRun:
    """Run a line and return what happened; `seconds` cover dialling and running. `stdin` is sent
    to the line; None gives it an empty one.

    Raises DialFailed: then nothing ran. Cancelling ends the line on the host before it propagates,
    as far as the host can be reached again within `END_SECONDS`.
    """
    clock = clock or SystemClock()
    began = clock.monotonic()
    async with AsyncExitStack() as stack:
        connection: Connection | None = None
        with anyio.move_on_after(seconds):
            connection = await stack.enter_async_context(dial(hosts, host, user))
        if connection is None:
            message = f"was not reached within {seconds:g} s"
            raise DialFailed(host.name, host.name, Stage.NETWORK, message)
        connected = clock.monotonic() - began
        running = _Running(hosts, host, line, user, limits, redactor, offload, stdin)
        try:
            run = await running.run(connection, max(seconds - connected, 0.0))
        except BaseException:
            running.abandon()
            raise
    execution = replace(run.execution, duration=clock.monotonic() - began)
    return replace(run, execution=execution, seconds_to_connect=connected)


class _Running:
    """A line that runs. `run` it once."""

    def __init__(
        self,
        hosts: Hosts,
        host: Host,
        line: str,
        user: str,
        limits: CaptureLimits,
        redactor: Redactor,
        offload: Path | None,
        stdin: bytes | None,
    ) -> None:
        self._hosts, self._host, self._user = hosts, host, user
        self._line, self._stdin = line, stdin
        self._stop_after = limits.stop_after
        self._captures: dict[Stream, Capture] = {
            "stdout": Capture(limits.stdout, redactor),
            "stderr": Capture(limits.stderr, redactor),
        }
        self._offload = None if offload is None else Offload(offload)
        self._token = new_token()
        self._marks = MarkFilter(self._token)
        self._channel = Channel(self._take)
        self._cause: Cause | None = None

    def abandon(self) -> None:
        """Give up what was kept in a file."""
        if self._offload is not None:
            self._offload.abandon()

    async def run(self, connection: Connection, seconds: float) -> HostRun:
        import asyncssh

        channel, started = self._channel, False
        try:
            with anyio.move_on_after(seconds) as limit:
                try:
                    # From here on the host may have begun, whether we hear of it or not.
                    started = True
                    words = run_words(self._token, self._line, reads=self._stdin is not None)
                    await channel.open(connection.ssh, words, self._stdin or b"")
                except (asyncssh.ChannelOpenError, OSError) as error:
                    raise DialFailed(
                        self._host.name, self._host.name, Stage.UNKNOWN,
                        f"it runs no command: {error}",
                    ) from error  # fmt: skip
                await channel.ended.wait()
                if self._cause is None:
                    await self._drain()
            if limit.cancelled_caught and not channel.ended.is_set():
                self._cause = Cause.TIMEOUT
            broken = self._broken()
            ended = await self._end_rest(broken)
            if self._cause is Cause.TIMEOUT:
                with anyio.move_on_after(DRAIN_SECONDS):
                    await channel.closed.wait()  # What it said when it was ended.
        except BaseException as error:
            if started and not isinstance(error, DialFailed):
                with anyio.CancelScope(shield=True):
                    await self._end()
            raise
        finally:
            channel.abort()
        return self._account(connection, broken, ended)

    def _take(self, data: bytes, of_stderr: Stderr) -> None:
        if self._cause is Cause.OUTPUT_CAP:
            return
        if of_stderr:
            data = self._marks.feed(data)
        stream: Stream = "stderr" if of_stderr else "stdout"
        self._emit(stream, self._captures[stream].feed(data))
        observed = sum(capture.observed for capture in self._captures.values())
        if self._stop_after is not None and observed > self._stop_after:
            self._cause = Cause.OUTPUT_CAP
            self._channel.stop_reading()
            self._channel.ended.set()

    async def _drain(self) -> None:
        """Take what was still on its way; wait for more only while something comes."""
        channel = self._channel
        while not channel.closed.is_set():
            before = channel.received
            with anyio.move_on_after(DRAIN_SECONDS):
                await channel.closed.wait()
            if channel.received == before:
                break

    def _broken(self) -> str:
        """Return why nobody knows how the line ended; empty where that is known, or not asked."""
        channel = self._channel
        if self._cause is not None or channel.exit != ExitFact() or channel.signal_name:
            return ""
        if channel.lost is not None:
            return "connection_lost"
        return "no_exit_status" if self._marks.left is not None else "channel_closed"

    async def _end_rest(self, broken: str) -> Ended | None:
        """End what may still run on the host, if anything may."""
        marks = self._marks
        over = self._cause is None and broken in ("", "no_exit_status")
        if over and self._channel.closed.is_set() and not marks.left:
            return None
        return await self._end()

    async def _end(self) -> Ended:
        """End the processes of the run over a fresh connection and say whether that is certain."""
        import asyncssh

        words = end_words(self._token, self._marks.session or 0)
        try:
            with anyio.fail_after(END_SECONDS):
                async with dial(self._hosts, self._host, self._user) as fresh:
                    output, _ = await ask(fresh.ssh, words, END_SECONDS)
        except TimeoutError:
            return Ended("unknown", why=f"the host did not answer within {END_SECONDS:g} s")
        except (TruepennyError, asyncssh.Error, OSError) as error:
            message = error.message if isinstance(error, TruepennyError) else str(error)
            return Ended("unknown", why=f"the host could not be asked: {message}")
        return read_ended(self._token, output)

    def _account(self, connection: Connection, broken: str, ended: Ended | None) -> HostRun:
        self._emit("stderr", self._captures["stderr"].feed(self._marks.finish()))
        channel, cause = self._channel, self._cause
        if cause is Cause.TIMEOUT and ended == Ended("gone") and channel.exit != ExitFact():
            cause = None  # It had ended by itself before we looked.
        if cause is None and channel.signal_name:
            cause = Cause.SIGNAL
        text, out = self._captures["stdout"].finish()
        self._emit("stdout", text)
        text, err = self._captures["stderr"].finish()
        self._emit("stderr", text)
        by_itself = cause is None and not broken
        execution = Execution(
            exit=channel.exit,
            cause=cause,
            stdout=out,
            stderr=err,
            drained=channel.closed.is_set(),
            leftovers=ended.found if ended and by_itself and ended.state == "gone" else 0,
            survivors=ended.pids if ended else (),
            remarks=(*self._told_of_shell(), *_told(ended, by_itself)),
        )
        execution = with_stages(self._line, execution, self._marks.statuses)
        if self._offload is not None:
            execution = self._offload.settle(execution)
        meaning = classify_line(execution, self._line)
        if self._marks.shell == "none":
            meaning = Classification(Outcome.MISSING_DEPENDENCY, NO_BASH_THERE)
        elif broken:
            meaning = Classification(Outcome.CHANNEL_FAILED, broken, Leg.TRANSPORT)
        return HostRun(execution, meaning, connection, 0.0, ended, channel.signal_name)

    def _told_of_shell(self) -> tuple[str, ...]:
        return (NO_BASH,) if self._marks.shell == "sh" and "|" in self._line else ()

    def _emit(self, stream: Stream, text: str) -> None:
        if text and self._offload is not None:
            self._offload.feed(stream, text)


def _told(ended: Ended | None, by_itself: bool) -> tuple[str, ...]:
    """Return what a reader must know of what a line left on the host."""
    if ended is None:
        return ()
    if ended.state == "unknown":
        return (f"whether something of it still runs on the host is not known: {ended.why}",)
    if ended.state == "gone" and not by_itself:
        count = ended.found
        what = f"{count} process{'es' * (count > 1)} of it, ended" if count else "nothing of it"
        return (f"looked on the host over a new connection: {what}; none is left",)
    return ()
