"""Any MCP server over standard input and output under test."""

from __future__ import annotations

import logging
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from truepenny.errors import CouldNotRun, TruepennyError, UsageError
from truepenny.execute.command import Command

from .adapter import Adapter
from .observed import Observed
from .profile import Profile, chosen_tool
from .reading import fields, read_answer

if TYPE_CHECKING:
    from mcp import Client

START_SECONDS = 60.0
"""How long a server may take to answer the handshake: some fetch things at their first start."""

ANSWER_SECONDS = 5.0
"""How long a server that is in doubt may take to list its tools before it is ended."""


class McpServer(Adapter):
    """A server that is started by `words`. It is started again after it died, and, where no call
    can name a folder, for every case in the case's own.

    `env` is added to the few variables that the client passes on. `profile` None is the one whose
    `servers` has the name in the handshake, or the general one.
    """

    def __init__(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        known: Mapping[str, Profile],
        profile: Profile | None = None,
        tool: str | None = None,
    ) -> None:
        if not words:
            raise UsageError("is empty", where="--server", remedy="Give the server's command line.")
        self.name, self.version = words[0], "unknown"
        self._words, self._env = [_absolute(word) for word in words], dict(env)
        self._known, self._profile, self._tool = known, profile, tool
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None
        self._client: Client | None = None
        self._stop: anyio.Event | None = None
        self._over: anyio.Event | None = None
        self._reading = Profile()
        self._doubted = False

    async def open(self) -> None:
        """Start it once, to learn its name and tools."""
        # What the client has to say of broken messages is in the verdicts.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        folder = Path(tempfile.gettempdir())
        await self._start(folder)
        if self._reading.environment:
            # Who it is was only known once it ran.
            await self._end()
            await self._start(folder)

    async def close(self) -> None:
        """End it."""
        with anyio.CancelScope(shield=True):
            await self._end()
        await self._stack.aclose()

    async def prepare(self, work: Path) -> None:
        """Start it again if it has to be."""
        if self._reading.directory is None or self._doubted:
            # A call without an answer may still hold it: the next case is not to pay for that.
            await self._end()
        self._doubted = False
        if self._client is None:
            await self._start(work)
        if self._reading.directory_tool is not None and self._client is not None:
            assert self._reading.directory is not None, "a profile names the argument beside"
            # A server that cannot do it shows that in the cases.
            with anyio.move_on_after(ANSWER_SECONDS), suppress(Exception):
                folder = {self._reading.directory: str(work)}
                await self._client.call_tool(self._reading.directory_tool, folder)

    async def call(self, command: str, *, timeout: float, work: Path) -> Observed:
        """Call the one tool; a server that dies, or breaks the protocol, is told as such."""
        client, profile = self._client, self._reading
        if client is None or profile.tool is None:
            return Observed(died="the server is not running")
        self._doubted = True  # Until it has answered: the call may be taken back on the way.
        try:
            done = await client.call_tool(profile.tool, self._arguments(command, timeout, work))
        except Exception as error:
            # An error as the answer to a call is an answer; a connection that is gone is none.
            if await self._answers():
                return Observed(text=str(error), flagged=True)
            return Observed(died=f"{type(error).__name__}: {error}")
        self._doubted = False
        text = "\n".join(str(getattr(part, "text", "")) for part in done.content)
        structured: Any = done.structured_content
        return read_answer(profile, text, fields(structured), done.is_error)

    def _arguments(self, command: str, timeout: float, work: Path) -> dict[str, Any]:
        profile = self._reading
        assert profile.command is not None
        line: str | list[str] = command
        if profile.form == "argv":
            line = [*profile.wrap, command]
        elif profile.wrap:
            line = f"{shlex.join(profile.wrap)} {shlex.quote(command)}"
        arguments: dict[str, Any] = {**profile.arguments, profile.command: line}
        if profile.directory is not None and profile.directory_tool is None:
            arguments[profile.directory] = str(work)
        if profile.timeout is not None:
            factor = 1000 if profile.unit == "ms" else 1
            arguments[profile.timeout] = round(timeout * factor)
        return arguments

    async def _answers(self) -> bool:
        """Whether it still answers anything at all, soon."""
        client = self._client
        if client is None:
            return False
        with anyio.move_on_after(ANSWER_SECONDS), suppress(Exception):
            await client.session.list_tools()
            return True
        return False

    async def _start(self, work: Path) -> None:
        assert self._tasks is not None, "prepare after open"
        try:
            with anyio.fail_after(START_SECONDS):
                self._client = await self._tasks.start(self._hold, work)
        except TimeoutError:
            raise CouldNotRun(
                f"did not answer the handshake within {START_SECONDS:g} s", where=self._words[0]
            ) from None

    async def _hold(self, work: Path, *, task_status: TaskStatus[Client]) -> None:
        """Hold the connection in a task of its own: it is entered and left in the same one."""
        from mcp import Client
        from mcp.client.stdio import get_default_environment

        from truepenny.mcp.stdio import stdio_transport

        self._stop, self._over = anyio.Event(), anyio.Event()
        over = self._over
        env = {**get_default_environment(), **self._env, **self._reading.environment}
        server = Command(tuple(self._words), env, work, timeout=None)
        told = False
        try:
            async with Client(stdio_transport(server)) as client:
                await self._learn(client)
                told = True
                task_status.started(client)
                await self._stop.wait()
        except Exception as error:
            # What a dead server's connection raises at its end tells nothing new.
            if not told:
                first = _first(error)
                if isinstance(first, TruepennyError):
                    raise first from error
                why = str(first) or type(first).__name__
                raise CouldNotRun(
                    f"cannot be started as an MCP server: {why}",
                    where=self._words[0],
                    remedy="Start it by hand and see what it says: it must speak MCP on stdio.",
                ) from error
        finally:
            over.set()

    async def _learn(self, client: Client) -> None:
        about = client.server_info
        if about is not None:
            self.name, self.version = about.name, about.version
        profile = self._profile or next(
            (one for one in self._known.values() if self.name in one.servers), Profile()
        )
        if self._tool is not None:
            profile = profile.model_copy(update={"tool": self._tool})
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        self._reading = chosen_tool(profile, tools)
        self.takes_timeout = self._reading.timeout is not None

    async def _end(self) -> None:
        if self._stop is None or self._over is None:
            return
        self._stop.set()
        await self._over.wait()
        self._client = self._stop = self._over = None


def _absolute(word: str) -> str:
    """Return a relative path that is there as an absolute one: the server runs elsewhere."""
    path = Path(word)
    return str(path.absolute()) if os.sep in word and path.exists() else word


def _first(error: BaseException) -> BaseException:
    """Return the first of the errors that groups wrap."""
    while isinstance(error, BaseExceptionGroup):
        group: BaseExceptionGroup[BaseException] = error  # pyright: ignore[reportUnknownVariableType]
        error = group.exceptions[0]
    return error
