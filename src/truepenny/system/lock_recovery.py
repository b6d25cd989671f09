"""Take away a lock whose owner is proven dead, so that exactly one contender does it.

Only the holder of `<lock>.recovery` removes a dead owner's lock. Only the holder of the claim on a
dead recovery lock removes that one; a claim is named by a digest of what it claims, and a dead
claim is claimed in turn. So no file is ever removed by two, and none that changed meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

from truepenny.errors import LockBusy

from .atomic import storage_failed
from .lock_record import LockRecord, decode_record, publish_record, read_bytes

RECOVERY = ".recovery"
CLAIM = ".claim-"

MAX_CLAIMS = 64
"""Dead claims in a row before a person has to look: each one is a crash within a millisecond."""

_MAX_STEPS = 16  # looks at a recovery lock that keeps changing hands, before it counts as busy


class LockBlocked(LockBusy):
    """A recovery can neither be finished nor taken over; waiting does not help."""


def recover(path: Path, snapshot: bytes, purpose: str) -> bool:
    """Remove the lock at `path` if it still is `snapshot` and its owner is dead.

    Return whether the caller should try to take the lock now; False while another process recovers
    it. Raises LockBlocked and StorageFailed.
    """
    recovery = path.with_name(path.name + RECOVERY)
    for _ in range(_MAX_STEPS):
        mine = LockRecord.mine(f"recover {purpose}")
        if publish_record(recovery, mine):
            try:
                if read_bytes(path) == snapshot and _dead(snapshot):
                    _remove(path)
            finally:
                _remove_own(recovery, mine.nonce)
            return True
        held = read_bytes(recovery)
        if held is None:
            continue
        if not _dead(held):
            return False
        if not _reclaim(recovery, held, purpose):
            return False
    return False


def _reclaim(recovery: Path, dead: bytes, purpose: str) -> bool:
    """Remove a dead recovery lock under a claim; return whether it is worth another try."""
    chain: list[Path] = []
    predecessor = dead
    for _ in range(MAX_CLAIMS):
        digest = hashlib.sha256(predecessor).hexdigest()[:32]
        claim = recovery.with_name(f"{recovery.name}{CLAIM}{digest}")
        mine = LockRecord.mine(f"reclaim {purpose}")
        if publish_record(claim, mine):
            try:
                if read_bytes(recovery) == dead:
                    _remove(recovery)
            finally:
                for path in _leftovers(chain):
                    _remove(path)
                _remove_own(claim, mine.nonce)
            return True
        held = read_bytes(claim)
        if held is None:
            return True  # its holder has just finished
        if not _dead(held):
            return False
        chain.append(claim)
        predecessor = held
    raise LockBlocked(
        f"more than {MAX_CLAIMS} recoveries of it have died",
        where=str(recovery),
        remedy="Make sure that no process uses it, then remove the lock and its .recovery files.",
    )


def _leftovers(chain: list[Path]) -> Iterator[Path]:
    # The first claim last: as long as it stands nobody can start a second chain.
    yield from reversed(chain)


def _dead(data: bytes) -> bool:
    record = decode_record(data)
    return record is not None and record.proven_dead


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_failed(error, path, "Recovering the lock") from error


def _remove_own(path: Path, nonce: str) -> None:
    data = read_bytes(path)
    record = decode_record(data) if data is not None else None
    if record is not None and record.nonce == nonce:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
