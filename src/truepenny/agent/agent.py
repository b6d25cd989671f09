"""The agent: a model, tools and a session, asked from outside.

    async with Agent(model=..., registry=..., admission=..., session=...) as agent:
        async for event in agent.run("Why is checkout failing?"):
            ...

One turn runs at a time. Leaving the loop over `run`, closing it, or cancelling the task around it
aborts the turn: its tools are stopped, each open call gets a result that says so, and the end is
recorded before `run` returns.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from hashlib import sha256
from types import TracebackType

import anyio
from anyio.abc import TaskGroup

from truepenny.errors import UsageError
from truepenny.model.message import Text, UserMessage, user
from truepenny.model.request import Model
from truepenny.system.clock import Clock, SystemClock
from truepenny.system.ids import Ids, RandomIds
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.invoke import Ask
from truepenny.tool.registry import Registry

from .desk import Abort, TurnDesk
from .event import RunEvent, SteerAccepted
from .investigation.investigation import Investigation
from .limits import Limits
from .prompt import system_prompt as default_system_prompt
from .record import to_json
from .run import Run
from .session import Session, Steer, When
from .setup import Setup

ABORT_WAIT_SECONDS = 2.0
"""How long an abort waits for the turn to end before it answers `pending` (diagnostics spec 8)."""


class Agent:
    """Runs turns over one session. Enter it as an async context before `run`.

    The caller owns `model` and `session` and closes them. `system_prompt` None is the default one.
    """

    def __init__(
        self,
        *,
        model: Model,
        registry: Registry,
        admission: Admission,
        session: Session,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        system_prompt: str | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        redactor: Redactor | None = None,
        ask: Ask | None = None,
        investigation: Investigation | None = None,
    ) -> None:
        if system_prompt is None:
            reads = admission.policy.autonomy is Autonomy.READ_ONLY
            system_prompt = default_system_prompt(read_only=reads)
        redactor = redactor or Redactor()
        self.session = session
        self.setup = Setup(
            model=model,
            registry=registry,
            admission=admission,
            limits=limits,
            # A description in the settings may hold what it should not.
            system_prompt=redactor.text(system_prompt).text,
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            redactor=redactor,
            ask=ask,
            investigation=investigation,
        )
        self._desk = TurnDesk(self.setup.clock)
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Agent:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        schemas = self.setup.registry.schemas
        digest = sha256(to_json([(s.name, s.description, s.parameters) for s in schemas]))
        names = [schema.name for schema in schemas]
        self.session.context(
            self.setup.model.name, self.setup.system_prompt, names, digest.hexdigest()
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        tasks, self._tasks = self._tasks, None
        if tasks is None:
            return None
        self._desk.abort(None)
        return await tasks.__aexit__(kind, error, trace)

    async def run(
        self, prompt: str | UserMessage, *, turn_id: str | None = None
    ) -> AsyncGenerator[RunEvent, None]:
        """Run a prompt to its answer and yield what happens, `RunFinished` last.

        `turn_id` names the turn for aborts; a follow-up that is waiting at its end runs as a turn
        of its own. Raises UsageError for an empty prompt, TurnBusy while a turn is in flight, and
        StorageFailed when the prompt could not be recorded: nothing ran then.
        """
        if self._tasks is None:
            raise RuntimeError("use `async with agent:` around run()")
        message = user(prompt) if isinstance(prompt, str) else prompt
        if not any(not isinstance(part, Text) or part.text.strip() for part in message.content):
            raise UsageError("the prompt is empty", remedy="Say what is to be found out.")
        run = Run(self.setup, self.session, self._desk)
        turn = run.claim(turn_id or self.setup.ids.new("turn"))
        self._tasks.start_soon(run.drive, turn, message)
        try:
            async for event in run.outbox:
                yield event
        finally:
            if not run.finished.is_set():
                run.leave()
                with anyio.CancelScope(shield=True):
                    await run.finished.wait()

    async def abort(self, turn_id: str | None = None) -> Abort:
        """Stop the named turn, or whatever runs. `pending` means that its end is not confirmed.

        An abort that names another turn than the live one does not hit it; if that turn has not
        started yet, it will end as soon as it does.
        """
        answer, turn = self._desk.abort(turn_id)
        if turn is None:
            return answer
        with anyio.move_on_after(ABORT_WAIT_SECONDS):
            await turn.finished.wait()
        return Abort.STOPPED if turn.finished.is_set() else Abort.PENDING

    async def steer(self, text: str, *, when: When = "boundary") -> Steer | None:
        """Say something to the running turn, at its next boundary or as a turn after its end.

        When this returns a steer, it is on the disk. Returns None when no turn is running, or the
        one that runs is past its last boundary: it was not accepted, send it as a prompt. Raises
        StorageFailed when it could not be recorded.
        """
        turn = self._desk.live
        if turn is None or not turn.open or not text.strip():
            return None
        steer = Steer(self.setup.ids.new("steer"), text, when)
        with turn.listening():
            await self.session.accept_steer(turn.id, steer)
            shown = self.setup.redactor.text(text).text
            turn.put(SteerAccepted(turn.id, steer.id, when, shown))
        return steer
