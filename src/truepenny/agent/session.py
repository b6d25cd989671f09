"""A session: what an agent knows of one conversation, and the one place that records it.

Whatever joins the history goes through here, so that what is sent and what is recorded cannot part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from truepenny.errors import StorageFailed
from truepenny.model.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from truepenny.system.clock import Clock, timestamp
from truepenny.text.redact import Redactor
from truepenny.tool.result import Result
from truepenny.tool.view import model_content

from .claim.source import Source, source_of
from .history import Appended, History
from .ledger import Ledger
from .record import Caps, Record, encode_content, encode_message
from .repair import Repair
from .stop import Stop
from .transcript import TranscriptWriter

When = Literal["boundary", "end"]


@dataclass(frozen=True, slots=True)
class Steer:
    """What a person said while a turn ran: for its next boundary, or for a turn after its end."""

    id: str
    text: str
    when: When = "boundary"


class Session:
    """One open session. Made by `SessionStore`; closed by whoever opened it.

    `user` and `id` come from authentication and from us. `steers` wait for the next boundary,
    `follow_ups` for the end of the turn. `scratch` is a folder for whole outputs.
    """

    def __init__(
        self,
        *,
        user: str,
        id: str,
        folder: Path,
        transcript: TranscriptWriter,
        ledger: Ledger,
        redactor: Redactor,
        clock: Clock,
        history: History | None = None,
        pending: Sequence[Steer] = (),
        on_close: AsyncExitStack | None = None,
        caps: Caps = Caps(),  # noqa: B008 - frozen
    ) -> None:
        self.user = user
        self.id = id
        self.folder = folder
        self.scratch = folder / "scratch"
        self.history = history or History()
        self.resumed = len(self.history)
        self.steers = deque(steer for steer in pending if steer.when == "boundary")
        self.follow_ups = deque(steer for steer in pending if steer.when == "end")
        self.ledger = ledger
        self._transcript = transcript
        self._redactor = redactor
        self._clock = clock
        self._caps = caps
        self._on_close = on_close or AsyncExitStack()
        self._recorded: set[str] = set()
        self.sources: dict[str, Source] = {}
        """What each call of this process returned, by id: what an answer's claims are checked
        against. The texts are those of the history, held once."""

    @property
    def broken(self) -> str:
        """Why not everything is recorded any more; empty while all is well."""
        return self._transcript.broken or self.ledger.broken

    async def flush(self) -> None:
        """Return when everything so far is on the disk, or `broken` says why it is not."""
        await self.ledger.flush()
        await self._transcript.flush()

    async def close(self) -> None:
        """Close files and release the session; safe to call twice."""
        self._transcript.close()
        self.ledger.close()
        await self._on_close.aclose()

    def restored(
        self, repairs: Sequence[Repair], sealed: Appended, lost: Mapping[str, str], unusable: int
    ) -> None:
        """Record that an earlier process left this session, and what that took.

        The parts are those of `restore.Restored`.
        """
        self.note("", "resume", messages=self.resumed, unusable=unusable)
        self._record("", Appended(sealed.messages, (*repairs, *sealed.repairs)), lost=lost)

    def context(self, model: str, system_prompt: str, tools: Sequence[str], digest: str) -> None:
        """Record what the next turns run with."""
        self.note(
            "", "context", model=model, system_prompt=system_prompt,
            tools=list(tools), tools_schema_sha256=digest,
        )  # fmt: skip

    async def accept(self, turn: str, prompt: UserMessage, steer: str = "") -> Appended:
        """Take a prompt: it is on the disk when this returns. Raises StorageFailed if it is not.

        `steer` is the id of the follow-up that the prompt delivers.
        """
        before = len(self.history)
        self.note(turn, "turn")
        appended = self.append(turn, prompt, steer)
        try:
            await self._require()
        except StorageFailed:
            self.history.cut(before)
            raise
        return appended

    async def accept_steer(self, turn: str, steer: Steer) -> None:
        """Take a steer: it is on the disk when this returns. Raises StorageFailed if it is not."""
        text = self._redactor.text(steer.text).text
        self.note(turn, "steer", steer=steer.id, when=steer.when, text=self._caps.cut_text(text))
        await self._require()
        (self.steers if steer.when == "boundary" else self.follow_ups).append(steer)

    def drop_steers(self) -> tuple[str, ...]:
        """Forget what waits, and return the ids, so that it can be said."""
        dropped = tuple(steer.id for steer in (*self.steers, *self.follow_ups))
        self.steers.clear()
        self.follow_ups.clear()
        return dropped

    async def _require(self) -> None:
        await self.flush()
        if self.broken:
            raise StorageFailed(
                f"this could not be recorded, so it was not accepted: {self.broken}",
                where=str(self.folder),
                remedy="Free space or fix the folder, then start a new session.",
            )

    def append(self, turn: str, message: Message, steer: str = "") -> Appended:
        """Add a message to the history and record what came of that.

        `steer` is the id of the steer that the message delivers: in the same record, so that no
        crash can lose it or deliver it twice.
        """
        return self._record(turn, self.history.append(message), steer)

    def ready(self, turn: str) -> Appended:
        """Make the history fit to be sent and record what that took."""
        return self._record(turn, self.history.ready())

    def seal(self, turn: str) -> Appended:
        """Answer calls that still wait for a result, and record that."""
        return self._record(turn, self.history.seal())

    def _record(
        self,
        turn: str,
        appended: Appended,
        steer: str = "",
        lost: Mapping[str, str] = MappingProxyType({}),
    ) -> Appended:
        for repair in appended.repairs:
            self.note(
                turn, "repair", kind=repair.kind.value,
                where=repair.where, detail=self._redactor.text(repair.detail).text,
            )  # fmt: skip
        for message in appended.messages:
            if not isinstance(message, ToolResultMessage):
                record = encode_message(message, self._redactor, self._caps)
                if steer and isinstance(message, UserMessage) and not message.synthetic:
                    record["steer"] = steer
                self.note(turn, "message", **record)
            elif message.call_id in self._recorded:
                self._recorded.discard(message.call_id)
            else:
                self._record_synthetic(turn, message, lost.get(message.call_id, "no_result"))
        return appended

    def _record_synthetic(self, turn: str, message: ToolResultMessage, reason: str) -> None:
        self.note(
            turn, "result", call=message.call_id, tool=message.tool, outcome="interrupted",
            failed=message.failed, facts={"reason": reason},
            content=self._content(message.content),
        )  # fmt: skip

    def _content(self, parts: Sequence[Text | Image]) -> list[Record]:
        # The redactor has seen a tool's content already, as part of the call.
        return list(encode_content(parts, None, self._caps))

    def start_call(
        self,
        turn: str,
        call: ToolCall,
        shown: Any,
        admission: Mapping[str, str],
        action_class: str,
        *,
        runs: bool,
    ) -> None:
        """Record a call before anything of it happens. `shown` is its arguments, redacted."""
        arguments = self._caps.cut_arguments(shown)
        self.note(
            turn, "tool", call=call.id, tool=call.name, arguments=arguments,
            admission=admission, action_class=action_class, runs=runs,
        )  # fmt: skip
        self.ledger.append(
            self._now(), turn, "call", call.id, call.name,
            arguments=arguments, admission=admission, action_class=action_class, runs=runs,
        )  # fmt: skip

    def finish_call(
        self, turn: str, call: ToolCall, result: Result, facts: Record
    ) -> ToolResultMessage:
        """Record what a call came to, and return it as the message that belongs in the history.

        `facts` is the part of the result's JSON view of that name.
        """
        content = model_content(result, call.id)
        self.note(
            turn, "result", call=call.id, tool=call.name, outcome=result.outcome.value,
            failed=result.outcome.failed, facts=facts, content=self._content(content),
        )  # fmt: skip
        self._recorded.add(call.id)
        self.sources[call.id] = source_of(call.id, result)
        digest, size = sha256(), 0
        for part in result.content:
            data = (
                part.text.encode("utf-8", "surrogatepass") if isinstance(part, Text) else part.data
            )
            digest.update(data)
            size += len(data)
        self.ledger.append(
            self._now(), turn, "outcome", call.id, call.name, outcome=result.outcome.value,
            facts=facts, content={"bytes": size, "sha256": digest.hexdigest()},
        )  # fmt: skip
        return ToolResultMessage(call.id, call.name, content, result.outcome.failed)

    def note(self, turn: str, type_: str, /, **fields: Any) -> None:
        """Write a record of another kind."""
        self._transcript.write(type_, turn, **fields)

    def note_error(self, turn: str, kind: str, message: str) -> None:
        """Record a fault; the message is redacted already."""
        self.note(turn, "error", kind=kind, message=message)

    def note_retry(self, turn: str, kind: str, message: str, attempt: int, delay: float) -> None:
        """Record that a request is sent again."""
        self.note(turn, "retry", kind=kind, message=message, attempt=attempt, delay=delay)

    def note_partial(self, turn: str, message: AssistantMessage) -> None:
        """Record what a model wrote that is no answer."""
        self.note(turn, "partial", **encode_message(message, self._redactor, self._caps))

    def note_interrupted(self, turn: str, shown: str) -> None:
        """Record what of an answer was shown when the turn was stopped; redacted already."""
        content = [{"type": "text", "text": self._caps.cut_text(shown)}]
        self.note(turn, "partial", role="assistant", stop="aborted", content=content)

    def note_stop(
        self, turn: str, stop: Stop, answer: str, totals: Record, undelivered: Sequence[str]
    ) -> None:
        """Record the end of a turn. The answer is redacted already and has no cap."""
        self.note(
            turn, "stop", **stop.to_json(), answer=answer, totals=totals,
            undelivered=list(undelivered), ledger=self.ledger.head.to_json(),
        )  # fmt: skip

    def _now(self) -> str:
        return timestamp(self._clock.now())
