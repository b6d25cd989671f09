"""One turn: a prompt to its final answer. Its id, its counts, and how it is stopped."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from truepenny.model.message import Message

from .event import Repaired, RunEvent
from .history import Appended
from .loop_guard import LoopGuard
from .outbox import Outbox
from .session import Session
from .setup import Setup
from .stop import Stop
from .tally import Tally


class Turn:
    """The state of one running turn. Cancelling `scope` stops it wherever it is.

    `text` is the last text that the model finished; `exceeded` is set when a limit was met, and
    ends the turn at the next boundary.
    """

    def __init__(self, turn_id: str, setup: Setup, session: Session, outbox: Outbox) -> None:
        self.id = turn_id
        self.setup = setup
        self.session = session
        self.outbox = outbox
        self.scope = anyio.CancelScope()
        self.aborted = ""
        """Who aborted it: `abort` or `consumer_gone`; empty if nobody did."""
        self.finished = anyio.Event()
        self.tally = Tally(turns=1)
        self.guard = LoopGuard(setup.limits.loop_window)
        self.text = ""
        self.exceeded: Stop | None = None
        self.ended_by_tool = False
        self.notices = 0
        """How many notices about the budget of requests the model got."""
        self.unmetered = False
        """Whether it was said that the token limit cannot be enforced."""
        self.open = True
        """Whether a steer may still be accepted; no more once the end of the turn is decided."""
        self._hearing = 0
        self._heard: anyio.Event | None = None

    def abort(self, by: str = "abort") -> None:
        """Stop the turn; what runs is cancelled, its cleanup is not. Does not wait."""
        self.aborted = self.aborted or by
        self.scope.cancel()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Hold the turn open while a steer is being accepted."""
        self._hearing += 1
        try:
            yield
        finally:
            self._hearing -= 1
            if self._heard is not None and not self._hearing:
                self._heard.set()

    async def heard(self) -> None:
        """Return when no steer is being accepted: what was said before the end is not left out."""
        while self._hearing:
            self._heard = anyio.Event()
            await self._heard.wait()

    async def send(self, event: RunEvent) -> None:
        """Report an event, waiting for a reader that is far behind."""
        await self.outbox.send(event)

    def put(self, event: RunEvent) -> bool:
        """Report an event without waiting."""
        return self.outbox.put(event)

    def append(self, message: Message, steer: str = "") -> None:
        """Record a message and add it to the history; repairs become events."""
        self.report(self.session.append(self.id, message, steer))

    def report(self, appended: Appended) -> None:
        """Report what the history had to repair."""
        for repair in appended.repairs:
            detail = self.setup.redactor.text(repair.detail).text
            self.put(Repaired(self.id, repair.kind.value, repair.where, detail))
