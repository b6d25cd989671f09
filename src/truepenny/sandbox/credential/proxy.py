"""The credential proxy: single values and whole programs of ours, for what runs inside.

A program inside asks over a unix socket, one request a connection. It gets a value only if a tool
of this task declares it, or the output of a program of ours that runs outside with that tool's
credentials. Every value is known to the redactor before the first connection is taken, so it
cannot come back in an output unmasked.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from truepenny.config.bounds import MAX_PROGRAM_SECONDS
from truepenny.sandbox.network.listener import Listening, listening
from truepenny.sandbox.network.stream import Stream
from truepenny.sandbox.plan import Account
from truepenny.system.clock import Clock
from truepenny.text.redact import Redactor

from .request import (
    MOST_TEXT,
    REQUEST_BYTES,
    BadRequest,
    CredentialRequest,
    Reason,
    Request,
    ToolRequest,
    encode,
    read_request,
    refused,
)
from .split import NotGiven, Split
from .use import Kind, Use, Uses

log = logging.getLogger(__name__)

REQUEST_SECONDS = 10.0
"""For one line from a program on the same machine, and for taking the answer."""

PROGRAM_SECONDS = float(MAX_PROGRAM_SECONDS)
"""Whatever the program's own limit is; the client waits ten seconds longer."""

MOST_REQUESTS = 16
"""At once; each may be a process."""

TIMED_OUT = 124
"""The exit code that `timeout` has for it."""

_MESSAGES = {
    NotGiven.NOT_AUTHORISED: "no tool of this task has such a credential",
    NotGiven.NOT_PRESENT: "the credential is not set",
    NotGiven.NOT_MASKABLE: "the credential is too short to be masked, so it is not handed out",
}

_STOPPED: dict[Reason, str] = {
    Reason.TIMEOUT: "it did not end in time and was stopped",
    Reason.OUTPUT: "it wrote more than is read and was stopped",
}
"""What a runner may give as `ProgramRun.stopped`."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How a program of ours ended; the texts are decoded.

    `stopped` says that the runner ended it, and why; the texts are what it wrote until then.
    """

    stdout: str
    stderr: str
    returncode: int
    stopped: Reason | None = None


Runner = Callable[[str, tuple[str, ...], Mapping[str, str]], Awaitable[ProgramRun]]
"""Runs a tool's words with a whole environment on the host; cancelling it ends the program. It
bounds what it reads. Raises OSError or a TruepennyError where the program cannot start."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Why a program is not run for the arguments at hand; the message holds none of them."""

    reason: Reason | NotGiven
    message: str


Admit = Callable[[str, tuple[str, ...]], Denied | None]
"""Judges a tool's arguments before anything runs; None admits them."""


def admit_all(tool: str, arguments: tuple[str, ...]) -> Denied | None:
    """Admit every call: for programs that judge their arguments themselves."""
    return None


class CredentialProxy:
    """One task's proxy. `programs` maps tools to the words of their programs on the host.

    `uses` are in the order of the requests.
    """

    def __init__(
        self,
        split: Split,
        programs: Mapping[str, tuple[str, ...]],
        run: Runner,
        redactor: Redactor,
        *,
        admit: Admit = admit_all,
        program_seconds: float = PROGRAM_SECONDS,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self._split = split
        self._programs = dict(programs)
        self._run = run
        self._admit = admit
        self.uses = Uses()
        self._program_seconds = program_seconds
        self._request_seconds = request_seconds
        self._unmaskable = {
            value
            for name, value in split.secrets()
            if not redactor.learn(value, name, certain=True)
        }
        # By value alone: an answer is data for a program, and no rule may guess at it.
        self._mask = Redactor(rules=(), known=redactor.known)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that may be run, in order."""
        return tuple(sorted(self._split.authorised & self._programs.keys()))

    @asynccontextmanager
    async def listening(
        self, path: Path, account: Account, *, clock: Clock | None = None
    ) -> AsyncGenerator[Listening]:
        """Serve at a unix socket while the context is open; see `network.listener.listening`."""
        busy = encode(refused(Reason.BUSY, "too many requests at once"))
        async with listening(
            path,
            account,
            self.handle,
            most=MOST_REQUESTS,
            busy_answer=busy,
            on_busy=self._turned_away,
            clock=clock,
        ) as state:
            yield state

    def _turned_away(self) -> None:
        use = self.uses.add(Kind.UNREADABLE)
        use.over, use.refusal = True, Reason.BUSY

    async def handle(self, client: Stream) -> None:
        """Answer the one request of a connection."""
        answer = await self._answer(client)
        if answer is not None:
            with anyio.move_on_after(self._request_seconds):
                await client.send(encode(answer))

    async def _answer(self, client: Stream) -> dict[str, object] | None:
        data = b""
        with anyio.move_on_after(self._request_seconds):
            while b"\n" not in data and len(data) < REQUEST_BYTES:
                more = await client.receive(REQUEST_BYTES)
                if not more:
                    return None
                data += more
        line, end, behind = data.partition(b"\n")
        if len(line) >= REQUEST_BYTES:
            return self._unreadable(
                Reason.TOO_LARGE, f"a request has at most {REQUEST_BYTES} bytes"
            )
        if not end:
            return self._unreadable(Reason.TIMEOUT, "the request did not come in time")
        if behind:
            return self._unreadable(Reason.BAD_REQUEST, "a connection is for one request")
        try:
            request: Request = read_request(line)
        except BadRequest as error:
            return self._unreadable(Reason.BAD_REQUEST, str(error))
        if isinstance(request, CredentialRequest):
            return self._credential(request)
        use = self.uses.add(Kind.PROGRAM, self._named(request.tool), len(request.arguments))
        try:
            return await self._tool(request, client, use)
        finally:
            if not use.over:  # the task ends, and its programs with it
                use.over, use.refusal = True, Reason.OVER

    def _named(self, name: str) -> str:
        # Whoever has a value may ask by it, and a name goes into results and the log.
        return self._mask.text(name).text

    def _unreadable(self, reason: Reason, message: str) -> dict[str, object]:
        return _refuse(reason, message, self.uses.add(Kind.UNREADABLE))

    def _credential(self, request: CredentialRequest) -> dict[str, object]:
        use = self.uses.add(Kind.CREDENTIAL, self._named(request.name))
        use.over = True
        found = self._split.lookup(request.name)
        if found in self._unmaskable:
            found = NotGiven.NOT_MASKABLE
        if isinstance(found, NotGiven):
            return _refuse(found, _MESSAGES[found], use)
        log.info("credential handed out: name=%s", request.name)
        return {"value": found}

    async def _tool(self, request: ToolRequest, client: Stream, use: Use) -> dict[str, object]:
        if request.tool not in self.tools:
            answer = _refuse(Reason.UNKNOWN_TOOL, "not a tool of this task", use)
            return answer | {"returncode": 1, "authorized_tools": list(self.tools)}
        if denied := self._admit(request.tool, request.arguments):
            return _refuse(denied.reason, denied.message, use)
        words = (*self._programs[request.tool], *request.arguments)
        run = partial(self._run, request.tool, words, self._split.environment(request.tool))
        done: ProgramRun | Exception | None = None
        with anyio.move_on_after(self._program_seconds) as limit:
            done = await _while_asked(client, run)
        if isinstance(done, Exception):
            # The message may hold anything of ours; its kind is enough for who asked.
            error = type(done).__name__
            log.warning("program failed: tool=%s error=%s", request.tool, error)
            use.over, use.refusal = True, Reason.FAILED
            return refused(Reason.FAILED, "the program could not be run to its end", returncode=1)
        if done is None:
            if not limit.cancelled_caught:
                return _refuse(Reason.GONE, "nobody waits for the program any more", use)
            done = ProgramRun("", "", TIMED_OUT, Reason.TIMEOUT)
        use.over, use.returncode = True, done.returncode
        answer: dict[str, object] = {"returncode": done.returncode}
        if done.stopped is not None:
            answer |= _refuse(done.stopped, _STOPPED[done.stopped], use)
        omitted: dict[str, int] = {}
        for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            masked = self._mask.text(text).text
            answer[name] = masked[:MOST_TEXT]
            if len(masked) > MOST_TEXT:
                omitted[name] = len(masked) - MOST_TEXT
        return answer | ({"omitted": omitted} if omitted else {})


async def _while_asked(
    client: Stream, run: Callable[[], Awaitable[ProgramRun]]
) -> ProgramRun | Exception | None:
    """Return how it ended or failed; None where the client went away first, which ended it."""
    done: ProgramRun | Exception | None = None
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            await client.left()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            done = await run()
        except Exception as error:
            done = error
        tasks.cancel_scope.cancel()
    return done


def _refuse(reason: str, message: str, use: Use) -> dict[str, object]:
    use.over, use.refusal = True, reason
    # The name comes from inside: written as a literal, it cannot forge a line.
    log.warning("request refused: reason=%s name=%r", reason, use.name)
    return refused(reason, message)
