"""The ledger: an append-only record of calls, admissions and outcomes that shows any tampering.

Each line is `{"hash": ..., "row": {seq, ts, turn, kind, call, tool, ..., prev}}` in canonical JSON.
`hash` is the SHA-256 of the row's bytes, `prev` the hash of the row before, so a changed byte, a
removed or a moved row breaks the chain from there on. The hashes are not keyed: they prove that
the file is consistent, not who wrote it. Rows cut off at the end leave a consistent file; the
`stop` records of the transcript hold the head (`{rows, hash}`) to compare with.

A `call` row says what was asked and decided (arguments redacted), an `outcome` row what came of it:
a view of the tool's `Result` with a digest of its content. Evidence cites calls by id.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from truepenny.errors import StorageFailed
from truepenny.system.append import read_records
from truepenny.text.canonical import canonical_json

from .journal import Journal
from .record import Record, to_canonical

FILE_NAME = "ledger.jsonl"
NO_HASH = "0" * 64
"""`prev` of the first row."""

Kind = Literal["call", "outcome"]


@dataclass(frozen=True, slots=True)
class Head:
    """Where a ledger stands: how many rows, and the hash of the last."""

    rows: int = 0
    hash: str = NO_HASH

    def to_json(self) -> Record:
        """Return `{rows, hash}`."""
        return {"rows": self.rows, "hash": self.hash}


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a ledger is what was written.

    `intact` is None when that cannot be told: there is no ledger, or it cannot be read.
    `broken_at` is the number of the first bad line, from 1. `rows` counts the good rows before it.
    """

    intact: bool | None
    rows: int = 0
    head: Head = Head()
    broken_at: int | None = None
    reason: str = ""


class Ledger:
    """Writes rows and knows which calls they name."""

    def __init__(self, journal: Journal, head: Head, calls: set[str]) -> None:
        self._journal = journal
        self._head = head
        self._calls = calls

    @property
    def head(self) -> Head:
        """Where the ledger stands."""
        return self._head

    @property
    def calls(self) -> frozenset[str] | set[str]:
        """The ids of all calls in it: what a citation may name."""
        return self._calls

    @property
    def broken(self) -> str:
        """Why nothing more is written; empty while all is well."""
        return self._journal.broken

    def append(self, ts: str, turn: str, kind: Kind, call: str, tool: str, **fields: Any) -> None:
        """Write one row."""
        row: Record = {
            "seq": self._head.rows + 1,
            "ts": ts,
            "turn": turn,
            "kind": kind,
            "call": call,
            "tool": tool,
            **fields,
            "prev": self._head.hash,
        }
        body = to_canonical(row)
        digest = sha256(body).hexdigest()
        self._journal.append(_line(digest, body))
        self._head = Head(self._head.rows + 1, digest)
        self._calls.add(call)

    async def flush(self) -> None:
        """Return when all rows are on the disk, or `broken` says why they are not."""
        await self._journal.flush()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._journal.close()


def _line(digest: str, body: bytes) -> bytes:
    # Canonical by construction, so that a row is encoded once.
    return b'{"hash":"' + digest.encode("ascii") + b'","row":' + body + b"}"


def read_ledger(path: Path) -> tuple[tuple[Record, ...], Verification]:
    """Read the rows up to the first bad one, and say whether the whole file is consistent."""
    rows: list[Record] = []
    head = Head()
    try:
        lines = read_records(path)
        for number, line in enumerate(lines, start=1):
            row, digest, reason = _checked(line.data or b"", head)
            if row is None:
                return tuple(rows), Verification(False, len(rows), head, number, reason)
            rows.append({**row, "hash": digest})
            head = Head(number, digest)
    except FileNotFoundError:
        return (), Verification(None, reason="there is no ledger")
    except StorageFailed as error:
        return tuple(rows), Verification(None, len(rows), head, reason=error.message)
    if lines.torn:
        reason = f"{lines.torn} bytes of an unfinished row at the end"
        return tuple(rows), Verification(False, len(rows), head, len(rows) + 1, reason)
    return tuple(rows), Verification(True, len(rows), head)


def verify(path: Path, expected: Head | None = None) -> Verification:
    """Check a ledger; with `expected`, as a transcript recorded it, also that no row is missing."""
    rows, found = read_ledger(path)
    if not found.intact or expected is None:
        return found
    if expected.rows > found.rows:
        reason = f"{expected.rows - found.rows} rows are missing at the end"
        return Verification(False, found.rows, found.head, found.rows + 1, reason)
    recorded = rows[expected.rows - 1]["hash"] if expected.rows > 0 else NO_HASH
    if recorded != expected.hash:
        line = max(expected.rows, 1)
        return Verification(False, found.rows, found.head, line, "not the recorded row")
    return found


def _checked(line: bytes, head: Head) -> tuple[Record | None, str, str]:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, "", "not JSON"
    wrapper = cast("Record", value) if isinstance(value, dict) else {}
    row, digest = wrapper.get("row"), wrapper.get("hash")
    if not isinstance(row, dict) or not isinstance(digest, str):
        return None, "", "not a row"
    found = cast("Record", row)
    body = canonical_json(found)
    # Bytes, not only values, are what was written: a changed space is a change.
    if not digest.isascii() or _line(digest, body) != line:
        return None, "", "not in canonical form"
    if sha256(body).hexdigest() != digest:
        return None, "", "hash and content differ"
    if found.get("prev") != head.hash or found.get("seq") != head.rows + 1:
        return None, "", "does not follow the row before"
    return found, digest, ""
