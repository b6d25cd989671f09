"""A model file on this machine: llama.cpp in a child process, spoken to over chat completions.

Needs the `local` extra and a GGUF file (`model_path` of the provider). The process starts with the
first request and ends with `close`, or when this process does.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import IO, Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from truepenny.model.endpoint import Endpoint, Timeouts
from truepenny.model.event import ModelEvent, StreamFailed
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.profile import Profile
from truepenny.model.provider import Provider
from truepenny.model.request import Model, ModelRequest, ToolSchema
from truepenny.model.tool_text.model import TextToolModel

from .local_server import Ready, Start
from .openai_chat import OpenAIChatModel

CONTEXT_TOKENS = 8192
"""Unless the settings say more: room for a few tool results, and memory that a small machine has.
A model's own full context can take tens of gigabytes."""

START_SECONDS = 600.0
"""Reading tens of gigabytes from a slow disk takes minutes; more than ten is a hang."""

STOP_SECONDS = 5.0
"""The child ends at once when its input does; after that it is killed."""

CRASH_SECONDS = 1.0
"""Between a cut connection and the news that its process ended lie milliseconds."""

_HEADERS = {"connection": "close"}
"""Its server drops a kept connection after seconds of silence, which the next request would meet;
on loopback a new one costs nothing."""

_ANSWER_BYTES = 65_536
_LOG_TAIL_BYTES = 2_000


class LocalModel:
    """One model file. Implements `truepenny.model.request.Model`.

    A template that cannot carry tools gets them in the system prompt, unless the settings pin
    `tools`: llama.cpp would leave them out without a word. It does not enforce a required tool
    call either (spec/platform.md), so that is asked for as an answer with a schema.
    """

    def __init__(
        self,
        provider: Provider,
        profile: Profile,
        timeouts: Timeouts,
        *,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self._provider = provider
        self._path = os.path.expanduser(provider.model_path)
        self._profile = profile
        self._timeouts = timeouts
        self._redact = redact
        self._lock = anyio.Lock()
        self._process: Process | None = None
        self._server: _Server | None = None

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self._provider.name}/{self._profile.model}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask; a server that cannot start ends the stream with `StreamFailed`."""
        server = await self._started()
        if isinstance(server, Failure):
            yield StreamFailed(server)
            return
        async with aclosing(server.model_for(request).stream(request)) as events:
            async for event in events:
                if isinstance(event, StreamFailed) and event.failure.kind is FailureKind.NETWORK:
                    event = await self._explained(event)
                yield event

    async def close(self) -> None:
        """Stop the process; safe to call twice."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                await self._stop()

    async def _explained(self, event: StreamFailed) -> StreamFailed:
        """Return the failure with the server's end, if that is what cut the connection."""
        process = self._process
        if process is None:
            return event
        with anyio.move_on_after(CRASH_SECONDS):
            await process.wait()
        if process.returncode is None:
            return event
        failure = self._failure(
            FailureKind.SERVER_ERROR, f"it {_ended(process.returncode)} while it was asked"
        )
        failure = replace(failure, phase=event.failure.phase, partial=event.failure.partial)
        return replace(event, failure=failure)

    async def _started(self) -> _Server | Failure:
        async with self._lock:
            if self._server is not None and self._process is not None:
                if self._process.returncode is None:
                    return self._server
                await self._stop()
            with tempfile.TemporaryFile() as log:
                return await self._start(log)

    async def _start(self, log: IO[bytes]) -> _Server | Failure:
        start = Start(
            self._path,
            self._profile.model,
            secrets.token_hex(16),
            self._profile.context_window or CONTEXT_TOKENS,
            self._provider.threads or 0,
        )
        try:
            self._process = process = await anyio.open_process(
                [sys.executable, "-m", "truepenny.model.wires.local_server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            return self._failure(FailureKind.SERVER_ERROR, f"cannot start: {error.strerror}")
        try:
            with anyio.fail_after(START_SECONDS):
                answer = await _handshake(process, start)
            if "error" in answer:
                await self._stop()
                return self._failure(FailureKind.SERVER_ERROR, _tail(answer["error"], log))
        except TimeoutError:
            await self._stop()
            return self._failure(FailureKind.TIMEOUT, f"not ready after {START_SECONDS:.0f} s")
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.IncompleteRead):
            code = await self._stop()
            return self._failure(
                FailureKind.SERVER_ERROR, _tail(f"it {_ended(code)} before it was ready", log)
            )
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._stop()
            raise
        self._server = _Server(
            Endpoint(
                self._provider.name,
                f"{answer['address']}/v1",
                start.key,
                _HEADERS,
                self._timeouts,
            ),
            self._profile_of(Ready(**answer)),
            self._redact,
        )
        return self._server

    def _profile_of(self, ready: Ready) -> Profile:
        profile = replace(self._profile, context_window=ready.context)
        if not ready.tools and "tools" not in profile.pinned:
            profile = replace(profile, tools=False)
        return profile

    async def _stop(self) -> int | None:
        process, server = self._process, self._server
        self._process = self._server = None
        if server is not None:
            await server.close()
        if process is None:
            return None
        if process.stdin is not None:
            await process.stdin.aclose()
        with anyio.move_on_after(STOP_SECONDS):
            await process.wait()
        if process.returncode is None:
            process.kill()
        await process.aclose()
        return process.returncode

    def _failure(self, kind: FailureKind, message: str) -> Failure:
        text = f"the local model server: {message}"
        return Failure(
            kind,
            self._redact(text) if self._redact else text,
            phase="connect",
            provider=self._provider.name,
            model=self._profile.model,
        )


class _Server:
    """A running server: the model as it is, and one more for each set of required tools."""

    def __init__(
        self, endpoint: Endpoint, profile: Profile, redact: Callable[[str], str] | None
    ) -> None:
        self._endpoint = endpoint
        self._profile = profile
        self._redact = redact
        self._plain = self._made(profile, prompted=not profile.tools)
        self._required: tuple[tuple[ToolSchema, ...], Model] | None = None

    def model_for(self, request: ModelRequest) -> Model:
        """Return the model that can be asked this."""
        if request.tool_choice != "required" or not request.tools:
            return self._plain
        if self._required is None or self._required[0] is not request.tools:
            body = {**self._profile.extra_body, "response_format": _call_format(request.tools)}
            profile = replace(self._profile, extra_body=body, text_tool_calls=True)
            self._required = (request.tools, self._made(profile, prompted=True))
        return self._required[1]

    async def close(self) -> None:
        await self._plain.close()
        if self._required is not None:
            await self._required[1].close()

    def _made(self, profile: Profile, *, prompted: bool) -> Model:
        # No shared memory of capabilities: the port is another one each time.
        model = OpenAIChatModel(self._endpoint, profile, redact=self._redact)
        return TextToolModel(model, prompted=prompted) if profile.text_tool_calls else model


def _call_format(tools: tuple[ToolSchema, ...]) -> dict[str, Any]:
    """Return the response format of an answer that is a call of one of the tools."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": tool.parameters},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"type": "json_schema", "json_schema": {"name": "call", "schema": {"anyOf": calls}}}


async def _handshake(process: Process, start: Start) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None, "both are pipes"
    await process.stdin.send(json.dumps(asdict(start)).encode() + b"\n")
    line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", _ANSWER_BYTES)
    return json.loads(line)


def _ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"ended by signal {name}"


def _tail(message: str, log: IO[bytes]) -> str:
    """Return the message with the last lines that the server logged."""
    size = log.seek(0, 2)
    log.seek(max(0, size - _LOG_TAIL_BYTES))
    text = log.read().decode("utf-8", "backslashreplace").strip()
    last = "\n".join(text.splitlines()[-5:])
    return f"{message}\n{last}" if last else message
