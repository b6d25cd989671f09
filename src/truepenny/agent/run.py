"""One run: the turn of a prompt, then a turn for each follow-up, each from accepted to recorded.

Runs in a task of its own, shielded from whatever cancels the tasks around it: it is stopped through
its turn, so that a stopped turn still records its end.
"""

from __future__ import annotations

import logging
import traceback
from typing import Literal

import anyio

from truepenny.errors import StorageFailed, TruepennyError
from truepenny.model.message import Text, UserMessage, user
from truepenny.system.clock import timestamp

from . import transcript as transcripts
from .claim.check import check
from .desk import TurnDesk
from .event import (
    Error,
    Notice,
    RunFinished,
    RunStarted,
    SteerDelivered,
    TurnFinished,
    TurnStarted,
)
from .evidence import citations
from .loop import run_turn
from .outbox import Outbox
from .report.build import build
from .report.store import save
from .session import Session
from .setup import Setup
from .stop import Stop, StopKind
from .tally import Tally
from .transcript import read_transcript
from .turn import Turn

log = logging.getLogger(__name__)


class Run:
    """What one call of `Agent.run` does. `finished` is set when everything is recorded and sent."""

    def __init__(self, setup: Setup, session: Session, desk: TurnDesk) -> None:
        self.outbox = Outbox()
        self.finished = anyio.Event()
        self._setup, self._session, self._desk = setup, session, desk
        self._left = False
        self._total = Tally()
        self._question = ""

    def claim(self, turn_id: str) -> Turn:
        """Make a turn the live one. Raises TurnBusy."""
        turn = Turn(turn_id, self._setup, self._session, self.outbox)
        self._desk.begin(turn)
        return turn

    def leave(self) -> None:
        """The reader has gone: stop the turn that runs, start no other."""
        self._left = True
        live = self._desk.live
        if live is not None:
            live.abort("consumer_gone")

    async def drive(self, turn: Turn, prompt: UserMessage) -> None:
        """Run all turns; what goes wrong outside a turn is raised at the reader of the outbox."""
        failure: Exception | None = None
        with anyio.CancelScope(shield=True):
            try:
                await self._turns(turn, prompt)
            except Exception as error:
                failure = error
            finally:
                if self._desk.live is not None:
                    self._desk.end(self._desk.live)
                self.outbox.close(failure)
                self.finished.set()

    async def _turns(self, turn: Turn, prompt: UserMessage) -> None:
        setup, session, started = self._setup, self._session, self._setup.clock.monotonic()
        tools = [schema.name for schema in setup.registry.schemas]
        now = timestamp(setup.clock.now())
        self.outbox.put(
            RunStarted(session.id, session.user, setup.model.name, tools, session.resumed, now)
        )
        stop = await self._turn(turn, prompt)
        while stop.completed and session.follow_ups and not self._left:
            steer = session.follow_ups.popleft()
            turn = self.claim(setup.ids.new("turn"))
            try:
                stop = await self._turn(turn, user(steer.text), steer.id)
            except StorageFailed as error:
                stop = Stop(StopKind.STORAGE_FAILED, message=error.message)
        self._finish(turn, stop, setup.clock.monotonic() - started)

    async def _turn(self, turn: Turn, prompt: UserMessage, steer: str = "") -> Stop:
        """Run one turn from its accepted prompt to its recorded end."""
        setup, session, started = self._setup, self._session, self._setup.clock.monotonic()
        turn.report(await session.accept(turn.id, prompt, steer))
        text = "".join(part.text for part in prompt.content if isinstance(part, Text))
        shown = self._question = setup.redactor.text(text).text
        turn.put(TurnStarted(turn.id, shown, timestamp(setup.clock.now())))
        if self._setup.investigation is not None:
            self._setup.investigation.silence.broken()
        if steer:
            turn.put(SteerDelivered(turn.id, steer))
        stop = await self._guarded(turn)
        # Nothing may wait between the loop's last look for steers and here, or one is left behind.
        turn.open = False
        await turn.heard()
        undelivered = session.drop_steers() if turn.aborted else ()
        answer = setup.redactor.text(turn.text).text
        totals = turn.tally.to_json(setup.clock.monotonic() - started)
        session.note_stop(turn.id, stop, answer, totals, undelivered)
        await session.flush()
        if session.broken:
            said = f"not everything of this turn is recorded: {session.broken}"
            turn.put(Notice(turn.id, "not_recorded", said))
        # After a whole answer the follow-ups run next, without being asked for.
        if waiting := len(session.steers) + (0 if stop.completed else len(session.follow_ups)):
            said = f"accepted messages that wait for the next turn: {waiting}"
            turn.put(Notice(turn.id, "steers_waiting", said))
        turn.put(TurnFinished(turn.id, stop, undelivered))
        self._total.merge(turn.tally)
        self._desk.end(turn)
        return stop

    async def _guarded(self, turn: Turn) -> Stop:
        """Run the loop under the turn's scope; a cancellation or a fault of ours is a stop too."""
        timeout = self._setup.limits.timeout
        if timeout is not None:
            turn.scope.deadline = anyio.current_time() + timeout
        try:
            with turn.scope:
                return await run_turn(turn)
        except Exception as error:
            return self._fault(turn, error)
        finally:
            turn.report(self._session.seal(turn.id))
        if turn.aborted:
            return Stop(StopKind.CANCELLED, turn.aborted, "the turn was aborted")
        return Stop(StopKind.TIMEOUT, message=f"the turn did not end within {timeout} s")

    def _fault(self, turn: Turn, error: Exception) -> Stop:
        redactor, kind = self._setup.redactor, type(error).__name__
        trace = redactor.text("".join(traceback.format_exception(error))).text
        message = redactor.text(f"{kind}: {error}").text
        log.error("turn %s failed inside\n%s", turn.id, trace)
        self._session.note(turn.id, "error", kind=kind, message=message, traceback=trace)
        turn.put(Error(turn.id, "internal_error", message))
        return Stop(StopKind.INTERNAL_ERROR, kind, message)

    def _finish(self, turn: Turn, stop: Stop, duration: float) -> None:
        answer = self._setup.redactor.text(turn.text).text
        known, deep = self._session.ledger.calls, self._setup.investigation
        cited = citations(answer, known)
        claims = check(answer, known, self._session.sources.get)
        end = RunFinished(
            turn.id,
            stop,
            answer,
            _state(stop, answer),
            self._total.to_json(duration),
            {"resolved": cited.resolved, "unresolved": cited.unresolved},
            claims.to_json(),
            deep.hypotheses.to_json() if deep else (),
            not self._session.broken,
            self._session.id,
        )
        if deep:
            self._save(end)
        self.outbox.put(end)

    def _save(self, end: RunFinished) -> None:
        """Leave the report of a deep investigation; a run whose report is lost says so."""
        setup, session = self._setup, self._session
        try:
            found = read_transcript(session.folder / transcripts.FILE_NAME)
            now = timestamp(setup.clock.now())
            report = build(end, found.records, self._question, setup.model.name, now)
            save(session.folder, report)
        except TruepennyError as error:
            said = f"the report could not be saved: {error.message}"
            self.outbox.put(Notice(end.turn, "report_not_saved", said))
        else:
            said = f"report {report.id}: truepenny report show {report.id}"
            self.outbox.put(Notice(end.turn, "report_saved", said))


def _state(stop: Stop, answer: str) -> Literal["final", "partial", "none"]:
    if not answer:
        return "none"
    return "final" if stop.completed else "partial"
