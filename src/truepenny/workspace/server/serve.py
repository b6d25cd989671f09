"""The server's end: one hello, then calls side by side until the socket closes.

It never starts a sandbox and never touches control groups; what holds it was made around it. It
redacts with the rules alone: the known secrets stay outside, where each result is redacted again;
of one that no rule knows, a cut inside a very long line may leave a part.
Admission, too, was outside. Nothing of any frame is logged or printed.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from truepenny.model.message import Text
from truepenny.sandbox.roots import FileRoots
from truepenny.text.redact import Redactor
from truepenny.tool.codec import encode_result
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.invoke import run_admitted
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.result import Completeness, Facts, Result, invalid, refused
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.file.access import FileLimits, file_access
from truepenny.workspace.file.edit import edit_tool
from truepenny.workspace.file.find import find_tool
from truepenny.workspace.file.grep import grep_tool
from truepenny.workspace.file.read import read_tool
from truepenny.workspace.file.write import write_tool

from . import protocol
from .channel import Channel
from .foreground import foreground
from .frame import MAX_FRAME, FrameFault
from .held import HeldWorkspace, held_workspace
from .protocol import PROTOCOL, Abort, Call, Fatal, Hello, ProtocolFault, Ready, Update

START_SECONDS = 30.0
"""How long a server waits for its hello (assistant spec 2.7)."""

MOST_CALLS = 64
"""Calls at once: more than a model's batch, fewer than there are threads and descriptors."""

MOST_UPDATES = 100
"""Updates that wait to be sent; further ones are dropped, they are only progress."""

FATAL_SECONDS = 1.0
"""How long the last words may take."""

OK, FAULT = 0, 1
"""Exit codes: an orderly end, and a peer that did not keep to the protocol."""


async def serve(connection: socket.socket, env: Mapping[str, str]) -> int:
    """Serve the connection, which it closes, to its end; return the exit code."""
    channel = Channel(connection)
    try:
        await _Server(channel, env).run()
    except (FrameFault, ProtocolFault) as fault:
        with contextlib.suppress(OSError), anyio.move_on_after(FATAL_SECONDS, shield=True):
            await channel.send(protocol.server_codec().encode(Fatal(str(fault))))
        return FAULT
    finally:
        channel.close()
    return OK


class _Server:
    def __init__(self, channel: Channel, env: Mapping[str, str]) -> None:
        self._channel = channel
        self._env = env
        self._codec = protocol.server_codec()
        self._tools: dict[str, Tool] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._scratch = Path("/")
        self._redactor = Redactor()

    async def run(self) -> None:
        hello = await self._hello()
        if hello is None:
            return
        workspace = _workspace(hello, self._env)
        self._scratch = workspace.state
        self._tools = {tool.name: tool for tool in _tools(hello, workspace)}
        await self._send(Ready(PROTOCOL, list(self._tools)))
        updates, waiting = anyio.create_memory_object_stream[Update](MOST_UPDATES)
        fault: FrameFault | ProtocolFault | None = None
        with updates, waiting:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._forward, waiting)
                try:
                    await self._receive(tasks, updates)
                except (FrameFault, ProtocolFault) as error:
                    fault = error
                tasks.cancel_scope.cancel()
        if fault is not None:
            raise fault

    async def _hello(self) -> Hello | None:
        payload = None
        with anyio.move_on_after(START_SECONDS):
            payload = await self._channel.receive()
        if payload is None:
            return None
        message = self._codec.decode(payload)
        if not isinstance(message, Hello):
            raise ProtocolFault("the first message is no hello")
        if message.protocol != PROTOCOL:
            raise ProtocolFault(f"version {message.protocol} of the protocol is not spoken here")
        return message

    async def _receive(self, tasks: TaskGroup, updates: Any) -> None:
        while (payload := await self._channel.receive()) is not None:
            match self._codec.decode(payload):
                case Call(ident, tool, args):
                    if ident in self._scopes:
                        raise ProtocolFault("two calls have one id")
                    scope = self._scopes[ident] = anyio.CancelScope()
                    tasks.start_soon(self._call, ident, tool, args, scope, updates)
                case Abort(ident):
                    if ident in self._scopes:
                        self._scopes[ident].cancel()
                case Hello():
                    raise ProtocolFault("a second hello")
                case _:
                    return  # shutdown

    async def _call(
        self,
        ident: str,
        name: str,
        arguments: Mapping[str, Any],
        scope: anyio.CancelScope,
        updates: Any,
    ) -> None:
        def progress(line: str) -> None:
            with contextlib.suppress(anyio.WouldBlock):
                updates.send_nowait(Update(ident, line))

        context = CallContext("", "", ident, self._scratch, self._redactor, progress=progress)
        result: Result | None = None
        with scope:
            tool = self._tools.get(name)
            if tool is None:
                result = invalid("unknown_tool", "the tool server has no tool of that name")
            elif len(self._scopes) > MOST_CALLS:
                result = refused("too_many_calls", f"{MOST_CALLS} calls are running", "wait")
            else:
                result = await run_admitted(tool, arguments, context)
        if result is None:
            facts = Facts(cause=Cause.ABORT, completeness=Completeness("unknown", "stopped early"))
            result = Result(Outcome.INTERRUPTED, (Text("stopped as asked"),), facts)
        payload = self._payload(ident, result)
        del self._scopes[ident]
        with contextlib.suppress(BrokenPipeError):  # the other end is gone: reading sees it too
            await self._channel.send(payload)

    def _payload(self, ident: str, result: Result) -> bytes:
        problem = ""
        try:
            payload = self._codec.encode(protocol.Outcome(ident, encode_result(result)))
            if len(payload) <= MAX_FRAME:
                return payload
            problem = f"the result has {len(payload)} bytes; a frame has at most {MAX_FRAME}"
        except (ValueError, TypeError) as error:
            problem = f"the result cannot be carried: {type(error).__name__}"
        facts = Facts(
            reason="not_carried",
            completeness=Completeness("unknown", "the call ended; its result is lost"),
        )
        lost = Result(Outcome.INTERNAL_ERROR, (Text(problem),), facts)
        return self._codec.encode(protocol.Outcome(ident, encode_result(lost)))

    async def _forward(self, waiting: Any) -> None:
        async for update in waiting:
            await self._send(update)

    async def _send(self, message: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            await self._channel.send(self._codec.encode(message))


def _workspace(hello: Hello, env: Mapping[str, str]) -> HeldWorkspace:
    try:
        os.chdir(hello.cwd)
        return held_workspace(hello, env)
    except OSError as error:
        raise ProtocolFault(f"the folder to work in is not usable ({error.strerror})") from None
    except ValueError:
        raise ProtocolFault("the hello names a level or limits that are not ours") from None


def _tools(hello: Hello, workspace: HeldWorkspace) -> tuple[Tool, ...]:
    roots = FileRoots(
        tuple(map(Path, hello.read_roots)),
        tuple(map(Path, hello.write_roots)),
        tuple(map(Path, hello.denied_roots)),
        tuple(map(Path, hello.hidden_roots)),
    )
    limits = FileLimits(hello.max_read_lines, hello.max_read_bytes)
    files = file_access(workspace.root, roots, limits)
    return (
        read_tool(files),
        write_tool(files),
        edit_tool(files),
        find_tool(files),
        grep_tool(files, workspace.held),
        foreground(bash_tool(workspace)),
    )
