"""An append-only file of lines, private to its owner: how transcript and ledger are kept.

A line is one write (`system.append`), so a dying process leaves at most one unfinished line, at the
end. After a failed write the journal takes no more, and says why: a run goes on without its record
rather than dying of it, and what must not happen unrecorded asks `broken` first.
"""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from truepenny.errors import StorageFailed
from truepenny.system.append import AppendFile
from truepenny.system.atomic import PRIVATE, storage_failed, sync_directory


class Journal:
    """Writes lines. Made by `create` or `reopen`; never raises after that."""

    def __init__(self, file: AppendFile, warning: str = "") -> None:
        self.warning = warning
        """Why the file's name may not survive a power cut; empty where it does."""
        self.broken = ""
        """Why nothing more is written; empty while all is well."""
        self._file: AppendFile | None = file
        self._dirty = False

    @classmethod
    def create(cls, path: Path) -> Journal:
        """Make a new file, for the owner alone. Raises StorageFailed, also when it exists."""
        try:
            path.touch(mode=PRIVATE, exist_ok=False)
            warning = sync_directory(path.parent)
        except OSError as error:
            raise storage_failed(error, path, "Creating") from error
        return cls(AppendFile(path), warning)

    @classmethod
    def reopen(cls, path: Path) -> tuple[Journal, int]:
        """Open to write on, and return how many bytes of an unfinished line were at the end.

        That line stays in the file, as a malformed line of its own. The caller holds the lock of
        the journal. Raises StorageFailed.
        """
        file = AppendFile(path)
        return cls(file), file.sealed

    def append(self, line: bytes) -> None:
        """Write one line; the line itself holds no line break."""
        if self._file is None or self.broken:
            return
        try:
            self._file.append(line)
        except StorageFailed as error:
            self.broken = error.message
        self._dirty = True

    async def flush(self) -> None:
        """Return when all lines are on the disk, or `broken` says why they are not."""
        if not self._dirty or self._file is None:
            return
        self._dirty = False
        try:
            await anyio.to_thread.run_sync(self._file.sync)
        except StorageFailed as error:
            self.broken = self.broken or error.message

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None
