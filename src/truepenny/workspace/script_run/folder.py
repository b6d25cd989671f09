"""The folder of one run: `<runs>/<YYYYMMDDTHHMMSSZ-6 hex>/` with two logs, a manifest, an owner.

The folder is ours alone and outside of the workspace: what runs can neither read nor forge it.
"""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from truepenny.errors import StorageFailed
from truepenny.system.atomic import publish, storage_failed
from truepenny.system.directories import ensure
from truepenny.system.lock_record import LockRecord

RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")

STDOUT_LOG = "stdout.log"
STDERR_LOG = "stderr.log"
MANIFEST = "run.json"
OWNER = "owner"
"""Who runs it, until the manifest is there: so that a sweep leaves it alone."""

_TRIES = 16
"""Each has a chance of one in 16 million to meet another run of the same second."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run's folder, made."""

    id: str
    path: Path

    @property
    def stdout(self) -> Path:
        """The log of standard output."""
        return self.path / STDOUT_LOG

    @property
    def stderr(self) -> Path:
        """The log of standard error."""
        return self.path / STDERR_LOG

    @property
    def manifest(self) -> Path:
        """What is known about the run."""
        return self.path / MANIFEST

    def finish(self) -> None:
        """Give up the ownership, once the manifest is there: that alone says that it ended."""
        with suppress(OSError):
            (self.path / OWNER).unlink()

    def discard(self) -> None:
        """Remove it: nothing ran, and no manifest will ever be there to say so."""
        for path in (self.stdout, self.stderr, self.path / OWNER):
            with suppress(OSError):
                path.unlink()
        with suppress(OSError):
            self.path.rmdir()


def new_folder(runs: Path, now: datetime) -> RunFolder:
    """Make the folder of a new run. Raises StorageFailed."""
    ensure(runs)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    for _ in range(_TRIES):
        name = f"{stamp}-{secrets.token_hex(3)}"
        path = runs / name
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise storage_failed(error, path, "Making the folder of the run") from error
        made = RunFolder(name, path)
        try:
            publish(path / OWNER, LockRecord.mine("run_script", name).encode())
        except StorageFailed:
            made.discard()
            raise
        return made
    raise storage_failed(FileExistsError(), runs, "Finding a free name for the run")
