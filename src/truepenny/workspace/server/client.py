"""The parent's end: one server process per task attempt, calls side by side, results whole.

A call that was sent may have run: if the server ends before its result, it is `interrupted` and
never sent again. A call that could not be sent is `channel_failed`. What comes from inside is
believed as far as any output of a sandbox: the sandbox facts of each result are ours, and what
does not keep to the protocol ends the server.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import anyio

import truepenny
from truepenny.errors import CouldNotRun
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.execution import Execution, StartFailure
from truepenny.execute.process import DRAIN_SECONDS, Running, begin
from truepenny.model.message import Text
from truepenny.sandbox.level import Containment
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.ids import Ids, RandomIds
from truepenny.text.bound import Limits
from truepenny.text.control import strip_control
from truepenny.text.redact import Redactor
from truepenny.tool.codec import decode_result
from truepenny.tool.outcome import Cause, Leg, Outcome
from truepenny.tool.result import NEVER_RAN, Completeness, Facts, Result, invalid

from . import protocol
from .channel import Channel
from .frame import FrameFault, frame
from .protocol import PROTOCOL, Abort, Call, Fatal, Hello, ProtocolFault, Ready, Shutdown, Update

START_SECONDS = 30.0
"""How long the server may take to be ready (assistant spec 2.7)."""

SHUTDOWN_SECONDS = 5.0
"""How long it may take to end when asked; then it is ended (assistant spec 2.7)."""

ABORT_SECONDS = 5.0
"""How long a cancelled call waits for the server's word that it stopped."""

PROGRESS_CHARS = 500
"""Of one line of progress."""

PACKAGE = Path(truepenny.__file__).parent

BOOT = """\
import importlib.util, runpy, sys
package = sys.argv.pop(1)
spec = importlib.util.spec_from_file_location(
    "truepenny", package + "/__init__.py", submodule_search_locations=[package])
sys.modules["truepenny"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
runpy.run_module("truepenny.workspace.server", run_name="__main__", alter_sys=True)
"""
"""`python -m truepenny.workspace.server`, but of this very code: where it lies outside of the
environment, the folder around it, in which Python would look for it, may not be listed inside."""


@dataclass(frozen=True, slots=True)
class Start:
    """How to start a server. `python` are the words of an interpreter that takes no module from
    the workspace, its working directory. `env` is the server's whole environment; commands get
    that of the hello. Without a `sandbox` the server has all rights of this account.
    """

    hello: Hello
    env: Mapping[str, str]
    sandbox: Sandbox | None = None
    redactor: Redactor = field(default_factory=Redactor)
    python: tuple[str, ...] = (sys.executable, "-I")


@dataclass(slots=True)
class _Pending:
    progress: Callable[[str], None]
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Result | None = None


class ToolServer:
    """A running server. Made by `open_server`; usable from any task until that context ends."""

    def __init__(
        self, channel: Channel, containment: Containment, ids: Ids, redactor: Redactor
    ) -> None:
        self.tools: tuple[str, ...] = ()
        self.containment = containment
        self.execution: Execution | None = None
        self.fault = ""
        self._channel = channel
        self._codec = protocol.client_codec()
        self._ids = ids
        self._redactor = redactor
        self._pending: dict[str, _Pending] = {}
        self._ready = anyio.Event()
        self._over = anyio.Event()
        self._finished = anyio.Event()

    @property
    def alive(self) -> bool:
        """Whether calls can still be sent."""
        return not self._over.is_set()

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: Callable[[str], None] = lambda line: None,
    ) -> Result:
        """Call a tool and return its result. Cancelling asks the server to stop the call, waits
        a little for its word, and then propagates."""
        if not self.alive:
            return self._never_sent()
        ident = self._ids.new("call")
        try:
            payload = self._codec.encode(Call(ident, tool, dict(arguments)))
            frame(payload)
        except FrameFault as fault:
            return invalid("too_large", f"the arguments do not fit into a frame: {fault}")
        except UnicodeEncodeError:
            text = "the arguments have half of a character (a lone surrogate)"
            return invalid("not_unicode", text)
        pending = self._pending[ident] = _Pending(progress)
        try:
            # From here on it may run: a send that was cut short is never known not to have arrived.
            with anyio.CancelScope(shield=True):
                await self._send(payload)
            await pending.done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(ABORT_SECONDS, shield=True):
                await self._send(self._codec.encode(Abort(ident)))
                await pending.done.wait()
            raise
        finally:
            self._pending.pop(ident, None)
        return self._interrupted() if pending.result is None else self._held(pending.result)

    async def _send(self, payload: bytes) -> None:
        if not self.alive:
            return
        with anyio.move_on_after(SHUTDOWN_SECONDS) as late, suppress(BrokenPipeError):
            await self._channel.send(payload)
        if late.cancelled_caught:
            self._end("it takes no more messages")

    async def start(self, hello: Hello) -> None:
        """Send the hello and wait until it is ready. Raises CouldNotRun."""
        await self._send(self._codec.encode(hello))
        with anyio.move_on_after(START_SECONDS):
            await self._ready.wait()
        if not self.tools:
            raise CouldNotRun(
                f"the tool server did not start: {self._why() or 'it is not ready in time'}",
                remedy="`truepenny doctor` looks at sandboxes and at what they need.",
            )

    async def shut_down(self) -> None:
        """Ask it to end and wait for that, not for ever."""
        with anyio.move_on_after(SHUTDOWN_SECONDS):
            await self._send(self._codec.encode(Shutdown()))
            await self._finished.wait()

    async def listen(self) -> None:
        """Take what it says until it ends; then every call that waits is told."""
        try:
            while (payload := await self._channel.receive()) is not None:
                self._take(self._codec.decode(payload))
        except (FrameFault, ProtocolFault) as fault:
            self._end(str(fault))
        else:
            self._end("")

    def release(self) -> None:
        """Tell every call that waits that the process is gone and no result comes any more."""
        self._end("")
        self._ready.set()
        self._finished.set()
        for pending in self._pending.values():
            pending.done.set()

    @property
    def over(self) -> anyio.Event:
        """Set when nothing more is read: the channel or the process has ended."""
        return self._over

    def _end(self, fault: str) -> None:
        self.fault = self.fault or fault
        self._over.set()

    def _take(self, message: Any) -> None:
        match message:
            case Ready(version, tools):
                if self.tools or version != PROTOCOL or not tools:
                    raise ProtocolFault("a ready that does not fit")
                self.tools = tuple(tools)
                self._ready.set()
            case Update(ident, text):
                if pending := self._pending.get(ident):
                    line = self._redactor.text(strip_control(text)).text
                    pending.progress(line[:PROGRESS_CHARS])
            case protocol.Outcome(ident, data):
                pending = self._pending.pop(ident, None)
                if pending is None:
                    return  # its caller gave up waiting
                try:
                    pending.result = decode_result(data)
                except ValueError:
                    self._pending[ident] = pending
                    raise ProtocolFault("a result that is none") from None
                pending.done.set()
            case Fatal(message=words):
                raise ProtocolFault(f"it gave up: {words[:500]}")
            case _:
                raise ProtocolFault("a message that does not belong here")

    def _held(self, result: Result) -> Result:
        """Return the result with our own word on what holds the server. No tool of it ends a turn;
        nothing from inside may."""
        found = self.containment
        result = replace(result, ends_turn=False)
        return result.with_facts(sandbox=str(found.level), containment=found.facts())

    def _interrupted(self) -> Result:
        execution, cause = self.execution, None
        if execution is not None:
            cause = execution.cause
            if cause is None and execution.exit.signal is not None:
                cause = Cause.SIGNAL
        facts = Facts(
            completeness=Completeness("unknown", "the tool server ended during the call"),
            cause=cause,
            reason="tool_server_ended",
            hint="look at what it changed before you do it again",
            detail={"may_have_run": True, "server": self._why()},
        )
        text = f"the tool server ended during this call ({self._why()}); it may have run"
        return self._held(Result(Outcome.INTERRUPTED, (Text(text),), facts))

    def _never_sent(self) -> Result:
        facts = Facts(
            completeness=NEVER_RAN,
            leg=Leg.TRANSPORT,
            reason="tool_server_ended",
            detail={"may_have_run": False, "server": self._why()},
        )
        text = f"there is no tool server any more ({self._why()}); nothing ran"
        return self._held(Result(Outcome.CHANNEL_FAILED, (Text(text),), facts))

    def _why(self) -> str:
        words: list[str] = [self.fault] if self.fault else []
        execution = self.execution
        if execution is not None:
            if execution.failure is not None:
                words.append(execution.failure.message)
            elif execution.exit.signal is not None:
                words.append(f"signal {execution.exit.signal}")
            else:
                words.append(f"exit {execution.exit.observed}")
            if execution.cause is Cause.MEMORY:
                words.append("out of memory")
            last = execution.stderr.text.strip().splitlines()[-1:]
            words += [line[:300] for line in last]
        return "; ".join(words)


@asynccontextmanager
async def open_server(start: Start, *, ids: Ids | None = None) -> AsyncGenerator[ToolServer]:
    """Start a server, and end it with the context. Raises CouldNotRun where it does not start.

    Whatever the context leaves by, the process and all that came of it have ended behind it.
    """
    try:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError as error:
        raise CouldNotRun(
            f"there is no socket for the tool server: {error.strerror}",
            remedy="Raise the limit of open files (ulimit -n), or end what holds so many.",
        ) from error
    channel = Channel(ours)
    containment = start.sandbox.containment if start.sandbox else Containment()
    server = ToolServer(channel, containment, ids or RandomIds(), start.redactor)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_drive, server, start, theirs)
            try:
                await server.start(start.hello)
                yield server
            finally:
                with anyio.CancelScope(shield=True):
                    await server.shut_down()
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise _single(group) from None
    finally:
        channel.close()
        theirs.close()


async def _drive(server: ToolServer, start: Start, theirs: socket.socket) -> None:
    """Run the process and listen to it; whichever ends first ends the other."""
    running = begin(_command(start, theirs.fileno()))
    theirs.close()  # or the end of the process would not be the end of the channel
    over = anyio.Event()

    async def process(running: Running) -> None:
        server.execution = await running.supervise()
        over.set()
        # What it said last is still to be read.
        with anyio.move_on_after(DRAIN_SECONDS):
            await server.over.wait()
        tasks.cancel_scope.cancel()

    async def listen(running: Running) -> None:
        await server.listen()
        with anyio.move_on_after(0 if server.fault else SHUTDOWN_SECONDS):
            await over.wait()
        running.stop()

    try:
        if isinstance(running, StartFailure):
            server.execution = Execution(failure=running)
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process, running)
            tasks.start_soon(listen, running)
    finally:
        server.release()


def _command(start: Start, descriptor: int) -> Command:
    return Command(
        (*start.python, "-c", BOOT, str(PACKAGE), "--fd", str(descriptor)),
        env=start.env,
        timeout=None,
        # It says nothing there but its own last words.
        limits=CaptureLimits(Limits(bytes=4096), Limits(bytes=16 * 1024), 64 * 1024 * 1024),
        redactor=start.redactor,
        sandbox=start.sandbox,
        descriptors=(descriptor,),
    )


def _single(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one error inside, where it is one: callers catch it by its own name."""
    if len(group.exceptions) != 1:
        return group
    inner = group.exceptions[0]
    if isinstance(inner, BaseExceptionGroup):
        return _single(cast("BaseExceptionGroup[BaseException]", inner))
    return inner
