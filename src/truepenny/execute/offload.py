"""The whole output of a run in a file, for when it is too large for a result.

It is written while the process runs, from the first byte, since nobody knows yet whether anything
will be cut; and as redacted as what is shown. A disk that is full is a fact of the result and
never a failure of the run.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from truepenny.system.atomic import PRIVATE
from truepenny.text.bound import utf8_length

from .capture import Captured
from .ending import ByteCounts
from .execution import Execution, Offloaded

OFFLOAD_BYTES = 16 * 1024 * 1024
"""The most one run leaves on the disk: what a model could never read, a person still can."""

FLUSH_BYTES = 256 * 1024
"""Held back before it is written: most runs print less, and then no file is made at all."""


class Offload:
    """A file that is being written. `settle` or `abandon` it once."""

    def __init__(self, path: Path, limit: int = OFFLOAD_BYTES) -> None:
        self._path = path
        self._limit = limit
        self._handle = -1
        self._made = False
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._written = 0
        self._full = False
        self._problem = ""
        self._taken: dict[str, int] = {}

    def feed(self, stream: str, text: str) -> None:
        """Take text of a stream."""
        if self._problem or self._full:
            return
        size = utf8_length(text)
        room = self._limit - self._written - self._held_bytes
        data = text.encode("utf-8", "backslashreplace")
        if size > room:
            self._full = True
            data = data[:room].decode("utf-8", "ignore").encode()
            size = len(data)
        self._held.append(data)
        self._held_bytes += len(data)
        self._taken[stream] = self._taken.get(stream, 0) + size
        if self._held_bytes >= FLUSH_BYTES:
            self._flush()

    def settle(self, execution: Execution) -> Execution:
        """Keep the file and say so where something was left out of what is kept, else remove it."""
        if not (execution.stdout.cut or execution.stderr.cut):
            self.abandon()
            return execution
        self._flush()
        self._close()
        whole = not self._problem and not self._full
        facts = Offloaded(str(self._path), self._written, whole, self._problem)
        if not self._written:
            self.abandon()
            return replace(execution, offloaded=facts)
        return replace(
            execution,
            offloaded=facts,
            stdout=self._moved(execution.stdout, "stdout"),
            stderr=self._moved(execution.stderr, "stderr"),
        )

    def abandon(self) -> None:
        """Close the file and remove it, if it was made."""
        self._close()
        if self._made:
            with suppress(OSError):
                self._path.unlink()

    def _moved(self, captured: Captured, stream: str) -> Captured:
        """Count what is missing in the text and is in the file.

        Of a file that was cut it is the least that can be: its part of the stream less all that
        is kept, as if that were the beginning alone.
        """
        counts = captured.bytes
        if not counts.discarded:
            return captured
        there = counts.discarded
        if self._full or self._problem:
            # What a failed write lost is not known by stream: nothing is claimed then.
            taken = 0 if self._problem else self._taken.get(stream, 0)
            there = min(counts.discarded, max(0, taken - counts.kept))
        if not there:
            return captured
        moved = ByteCounts(
            counts.observed, counts.kept, counts.discarded - there, there, str(self._path)
        )
        return replace(captured, bytes=moved)

    def _flush(self) -> None:
        if not self._held or self._problem:
            return
        data = memoryview(b"".join(self._held))
        self._held.clear()
        self._held_bytes = 0
        try:
            if self._handle < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self._handle = os.open(self._path, flags, PRIVATE)
                self._made = True
            while data:
                count = os.write(self._handle, data)
                self._written += count
                data = data[count:]
        except OSError as error:
            self._problem = os.strerror(error.errno) if error.errno else str(error)

    def _close(self) -> None:
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            os.close(handle)
