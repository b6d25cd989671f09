"""Where sessions are kept: `<state>/sessions/<user>/<session id>/`, one folder each.

    transcript.jsonl   everything that was said and done
    ledger.jsonl       calls, admissions, outcomes, chained
    scratch/           whole outputs that tools left
    lock               held by whoever has the session open

Every path goes through the user's scope: another user's session is not there, and a user or session
id that is no plain name is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truepenny.errors import PolicyDenied, StorageFailed, UsageError
from truepenny.model.message import Text
from truepenny.system.clock import Clock, SystemClock, timestamp
from truepenny.system.directories import ensure
from truepenny.system.ids import Ids, RandomIds
from truepenny.system.lock import Lock
from truepenny.system.scope import UserScope
from truepenny.text.redact import Redactor

from . import ledger as ledgers
from . import transcript as transcripts
from .journal import Journal
from .ledger import Head, Ledger, read_ledger
from .record import Record, decode_message
from .restore import Restored, restore
from .session import Session
from .stats import moment
from .transcript import Transcript, TranscriptWriter, read_transcript

PREVIEW_CHARS = 120
"""Of the first prompt in a list: one line of a terminal."""


class NoSession(UsageError):
    """There is no session of that id for this user."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One line of a list of sessions. An unreadable one has no `started`, model or prompt."""

    id: str
    started: str
    model: str
    prompt: str
    turns: int
    readable: bool
    damaged: bool

    def to_json(self) -> Record:
        """Return the fields as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


class SessionStore:
    """The sessions of one user. `state` is the state folder; nothing is made before `create`."""

    def __init__(
        self,
        state: Path,
        user: str,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self.user = user
        self._scope = UserScope(state / "sessions")
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds()
        self._redactor = redactor or Redactor()

    def path(self, session_id: str) -> Path:
        """Return the folder of a session.

        Raises PolicyDenied for an id that is no plain name, and where others may write in the
        folder of the user's sessions: what they put there is not ours to go on with.
        """
        folder = self._scope.path(self.user, session_id)
        _check_private(folder.parent)
        return folder

    async def create(self, about: Mapping[str, Any] | None = None) -> Session:
        """Make a session and open it. `about` joins the header: where it comes from, no secrets.

        Raises StorageFailed.
        """
        session_id = self._ids.new("session")
        folder = self.path(session_id)
        for missing in (folder.parent.parent, folder.parent, folder, folder / "scratch"):
            ensure(missing)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._lock(folder))
            journal = Journal.create(folder / transcripts.FILE_NAME)
            stack.callback(journal.close)
            writer = TranscriptWriter(journal, self._clock)
            writer.header(session_id, self.user, self._redactor.json(dict(about or {}))[0])
            ledger_journal = Journal.create(folder / ledgers.FILE_NAME)
            stack.callback(ledger_journal.close)
            ledger = Ledger(ledger_journal, Head(), set())
            session = self._session(folder, writer, ledger, stack.pop_all())
        if journal.warning:
            session.note("", "notice", kind="not_durable", message=journal.warning)
        return session

    async def open(self, session_id: str) -> Session:
        """Open a session to go on with it.

        Raises NoSession, LockBusy if it is open elsewhere, CouldNotRun's kin if it is unreadable.
        """
        folder = self._existing(session_id)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._lock(folder))
            found = read_transcript(folder / transcripts.FILE_NAME)
            if not found.readable:
                raise NoSession(
                    f"its transcript is unreadable: {found.reason}",
                    where=str(found.path),
                    remedy="Start a new session; the file stays as it is.",
                )
            ensure(folder / "scratch")
            restored = restore(found)
            journal, unfinished = Journal.reopen(folder / transcripts.FILE_NAME)
            stack.callback(journal.close)
            writer = TranscriptWriter(journal, self._clock)
            ledger, damage = self._ledger(folder)
            stack.callback(ledger.close)
            session = self._session(folder, writer, ledger, stack.pop_all(), restored)
        if unfinished:
            session.note("", "repair", kind="cut_write", where="", detail=f"{unfinished} bytes")
        if damage:
            session.note("", "repair", kind="ledger_damaged", where="", detail=damage)
        session.restored(restored.repairs, restored.sealed, restored.lost, restored.unusable)
        return session

    def read(self, session_id: str) -> Transcript:
        """Read a session's transcript. Raises NoSession."""
        return read_transcript(self._existing(session_id) / transcripts.FILE_NAME)

    def list(self) -> Sequence[SessionEntry]:
        """Return the user's sessions, newest first; damaged ones too, marked."""
        root = self._scope.path(self.user)
        _check_private(root)
        try:
            names = [entry.name for entry in root.iterdir() if not entry.is_symlink()]
        except FileNotFoundError:
            return []
        found = [_entry(name, root / name / transcripts.FILE_NAME) for name in names]
        entries = [entry for entry in found if entry is not None]
        return sorted(entries, key=lambda entry: (entry.started, entry.id), reverse=True)

    def _existing(self, session_id: str) -> Path:
        folder = self.path(session_id)
        if not (folder / transcripts.FILE_NAME).exists():
            raise NoSession(
                f"there is no session {session_id!r}", remedy="`session list` shows them."
            )
        return folder

    def _lock(self, folder: Path) -> Lock:
        return Lock(folder / "lock", purpose=f"session {folder.name}")

    def _session(
        self,
        folder: Path,
        writer: TranscriptWriter,
        ledger: Ledger,
        on_close: AsyncExitStack,
        restored: Restored | None = None,
    ) -> Session:
        return Session(
            user=self.user,
            id=folder.name,
            folder=folder,
            transcript=writer,
            ledger=ledger,
            redactor=self._redactor,
            clock=self._clock,
            history=restored and restored.history,
            pending=restored.pending if restored else (),
            on_close=on_close,
        )

    def _ledger(self, folder: Path) -> tuple[Ledger, str]:
        """Open the ledger to go on with; a damaged one is set aside, and why, and begun anew."""
        path = folder / ledgers.FILE_NAME
        rows, found = read_ledger(path)
        if found.intact:
            journal, _ = Journal.reopen(path)
            return Ledger(journal, found.head, {str(row.get("call")) for row in rows}), ""
        damage = f"line {found.broken_at}: {found.reason}" if path.exists() else found.reason
        if path.exists():
            moment_ = timestamp(self._clock.now()).replace(":", "-")
            path.rename(path.with_name(f"ledger.damaged-{moment_}.jsonl"))
        return Ledger(Journal.create(path), Head(), set()), damage


def _check_private(folder: Path) -> None:
    try:
        found = folder.stat()
    except OSError:
        return  # Not there, or out of reach: whoever uses it next says so.
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PolicyDenied(
            "others may write here, so nothing in it is trusted",
            where=str(folder),
            remedy="Make it yours alone (chown, chmod 700), or set TRUEPENNY_HOME elsewhere.",
        )


def _entry(session_id: str, path: Path) -> SessionEntry | None:
    """Return the line of a session, None if there is none; a broken one must not hide the rest."""
    seen: set[str] = set()

    def wanted(record: Record) -> bool:
        kind = record["type"]
        if kind != "turn" and (kind in seen or kind not in ("context", "message")):
            return False
        if kind == "message" and record.get("role") != "user":
            return False
        seen.add(kind)
        return True

    try:
        found = read_transcript(path, keep=wanted)
    except OSError:
        return None
    except StorageFailed:
        return SessionEntry(session_id, "", "", "", 0, readable=False, damaged=True)
    kinds = {record["type"]: record for record in found.records}
    started = found.header.get("ts") if moment(found.header.get("ts")) else ""
    return SessionEntry(
        session_id,
        str(started),
        str(kinds.get("context", {}).get("model") or ""),
        _preview(kinds.get("message", {})),
        sum(record["type"] == "turn" for record in found.records),
        found.readable,
        found.damaged,
    )


def _preview(record: Record) -> str:
    message = decode_message(record)
    parts = message.content if message is not None else ()
    text = " ".join(part.text for part in parts if isinstance(part, Text))
    return " ".join(text.split())[:PREVIEW_CHARS]
