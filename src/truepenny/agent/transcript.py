"""The transcript: everything of a session in one append-only JSONL file (assistant spec 2.9).

Line 1 is the header, a `session` record with `v` 1. Each further line is one record
`{type, ts, turn, ...}`:

    context          system_prompt, tools, tools_schema_sha256, model: what the next turns run with
    resume           messages, unusable: a later process goes on here
    turn             a turn begins (its prompt is the next `message`)
    message          role, content, ...: a prompt, a note of the runtime, or what the model wrote;
                     `steer` if it delivers one
    partial          a message of the model that is no answer: failed, empty or refused
    tool             call, tool, arguments, admission, action_class, runs: written before it runs
    result           call, tool, outcome, failed, facts, content: what the model reads of it
    steer            steer, when, text: accepted
    repair           kind, where, detail: set right in the history, or (`cut_write`) in the file
    retry, quirk, learned, notice, error     as the run events of the same name
    stop             kind, detail, message, failure, answer, totals, ledger, undelivered: turn's end

Prompts, steers, each call that may change something, and a turn's end are on the disk (fsync)
before they are acknowledged; the rest is written at once and survives the death of the process.
Reading: a first line that is no header makes the file unreadable; a line in the middle that is no
record is skipped and counted; an unterminated tail is a live or a cut write and is named, not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from truepenny.system.append import read_records
from truepenny.system.clock import Clock, timestamp

from .journal import Journal
from .record import Record, to_json

VERSION = 1
FILE_NAME = "transcript.jsonl"
NAMED_LINES = 20
"""Line numbers of malformed lines that are kept; the count has no limit."""


class TranscriptWriter:
    """Writes records. After a failed write it stops, says why in `broken`, and never raises."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    @property
    def broken(self) -> str:
        """Why nothing more is written; empty while all is well."""
        return self._journal.broken

    def header(self, session: str, user: str, about: Mapping[str, Any]) -> None:
        """Write line 1. `about` says where the session comes from; it never carries a key."""
        self.write("session", v=VERSION, session=session, user=user, about=dict(about))

    def write(self, type_: str, turn: str = "", /, **fields: Any) -> None:
        """Write one record."""
        record = {"type": type_, "ts": timestamp(self._clock.now()), "turn": turn, **fields}
        try:
            line = to_json(record)
        except Exception as error:
            # A value nobody foresaw must not cost the run its record of everything else.
            record = {"type": "serialization_error", "ts": record["ts"], "turn": turn}
            line = to_json({**record, "of": type_, "message": f"{type(error).__name__}: {error}"})
        self._journal.append(line)

    async def flush(self) -> None:
        """Return when all records are on the disk, or `broken` says why they are not."""
        await self._journal.flush()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._journal.close()


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript as read. `session` and `user` come from the path, never from the file.

    `tail_bytes` counts an unterminated last line: `tail` is `none`, or `unfinished` for a write
    that is going on or was cut off. `end` is the offset after the last whole line, to read on from.
    """

    path: Path
    session: str
    user: str
    readable: bool
    reason: str = ""
    header: Record = field(default_factory=dict[str, Any])
    records: tuple[Record, ...] = ()
    malformed: int = 0
    malformed_lines: tuple[int, ...] = ()
    tail: Literal["none", "unfinished"] = "none"
    tail_bytes: int = 0
    end: int = 0

    @property
    def damaged(self) -> bool:
        """Whether something of the file could not be read."""
        return not self.readable or self.malformed > 0 or self.tail != "none"


def _all(record: Record) -> bool:
    return True


def read_transcript(
    path: Path, offset: int = 0, *, keep: Callable[[Record], bool] = _all
) -> Transcript:
    """Read a transcript, from `offset` on if it was read up to there before.

    `keep` says which records are wanted; the others are checked and forgotten. Never raises for
    what is in the file. Raises FileNotFoundError if there is none, StorageFailed if it cannot be
    read.
    """
    lines = read_records(path, offset)
    session, user = path.parent.name, path.parent.parent.name
    header: Record = {}
    reason = "" if offset else "empty: it has no header line"
    records: list[Record] = []
    malformed, named = 0, list[int]()
    for number, line in enumerate(lines, start=1):
        record = _record(line.data)
        if offset == 0 and number == 1:
            reason = _why_unreadable(record)
            header = record or {}
        elif record is None:
            malformed += 1
            named.extend([number] if malformed <= NAMED_LINES else ())
        elif not reason and keep(record):
            records.append(record)
    if reason:
        return Transcript(path, session, user, False, reason, tail_bytes=lines.torn, end=lines.end)
    return Transcript(
        path,
        session,
        user,
        True,
        header=header,
        records=tuple(records),
        malformed=malformed,
        malformed_lines=tuple(named),
        tail="unfinished" if lines.torn else "none",
        tail_bytes=lines.torn,
        end=lines.end,
    )


def _why_unreadable(first: Record | None) -> str:
    if first is None or first["type"] != "session":
        return "line 1 is not a session header"
    if first.get("v") != VERSION:
        return f"version {first.get('v')!r} is not known"
    return ""


def _record(line: bytes | None) -> Record | None:
    if line is None:
        return None
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    record = cast("Record", value)
    return record if isinstance(record.get("type"), str) else None
