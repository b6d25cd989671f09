"""The keys that hosts showed when they were first reached: one file for each user.

Trust on first use, kept for good: a restart trusts nothing anew, and a key that changes is refused
until a person forgets the old one. A file that cannot be read refuses everything: to start an
empty one would trust whoever answers.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from truepenny.errors import ConfigurationError
from truepenny.system.atomic import publish
from truepenny.system.clock import Clock, SystemClock, timestamp
from truepenny.system.directories import ensure
from truepenny.system.lock import Lock
from truepenny.system.scope import UserScope

FORMAT = 1

MAX_BYTES = 4 * 1024 * 1024
"""Ten thousand hosts and more; a larger file is no such file."""

LOCK_SECONDS = 10.0
"""The file is held for a read and a write of some kilobytes."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One key. `sha256` is written as OpenSSH does, `first_seen` as RFC 3339."""

    algorithm: str
    sha256: str
    first_seen: str = ""

    def same(self, other: KnownKey) -> bool:
        """Whether it is the same key."""
        return (self.algorithm, self.sha256) == (other.algorithm, other.sha256)

    def __str__(self) -> str:
        return f"{self.algorithm} {self.sha256}"


class KnownHosts:
    """The files below one state directory. `identity` is `truepenny.diagnose.host.Hosts.identity`.

    Every method raises PolicyDenied for a bad user, ConfigurationError for an unreadable file.
    """

    def __init__(self, state: Path, clock: Clock | None = None) -> None:
        self._scope = UserScope(state / "hosts")
        self._clock = clock or SystemClock()

    def path(self, user: str) -> Path:
        """Return the file of a user."""
        return self._scope.path(user, "known_hosts.json")

    def get(self, user: str, identity: str) -> KnownKey | None:
        """Return the key that is known, or None: nothing was seen yet."""
        return self._read(self.path(user)).get(identity)

    async def remember(self, user: str, identity: str, key: KnownKey) -> KnownKey:
        """Keep a key unless one is known already; return the one that is kept, which may differ.

        Raises LockBusy and StorageFailed.
        """
        path = self.path(user)
        async with self._lock(path):
            known = self._read(path)
            if identity in known:
                return known[identity]
            new = KnownKey(key.algorithm, key.sha256, timestamp(self._clock.now()))
            self._write(path, known | {identity: new})
            return new

    async def forget(self, user: str, identity: str) -> KnownKey | None:
        """Forget a key and return it; None where none was known."""
        path = self.path(user)
        async with self._lock(path):
            known = self._read(path)
            old = known.pop(identity, None)
            if old is not None:
                self._write(path, known)
            return old

    def _lock(self, path: Path) -> Lock:
        ensure(path.parent)
        lock = path.with_name(f"{path.name}.lock")
        return Lock(lock, "known hosts", wait=LOCK_SECONDS, clock=self._clock)

    def _write(self, path: Path, known: dict[str, KnownKey]) -> None:
        hosts = {identity: asdict(key) for identity, key in sorted(known.items())}
        text = json.dumps({"format": FORMAT, "hosts": hosts}, ensure_ascii=False, indent=1)
        publish(path, f"{text}\n".encode())

    def _read(self, path: Path) -> dict[str, KnownKey]:
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unusable(path, error.strerror or str(error)) from error
        if len(data) > MAX_BYTES:
            raise _unusable(path, f"it is longer than {MAX_BYTES} bytes")
        try:
            content: Any = json.loads(data)
            if content["format"] != FORMAT:
                raise _unusable(path, f"its format is {content['format']!r}")
            return {
                str(identity): KnownKey(entry["algorithm"], entry["sha256"], entry["first_seen"])
                for identity, entry in cast("dict[str, Any]", content["hosts"]).items()
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _unusable(path, "it is damaged") from None


def _unusable(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the keys of known hosts cannot be read: {why}",
        where=str(path),
        remedy="Mend it; or move it away, and compare the fingerprints of all hosts anew.",
    )
