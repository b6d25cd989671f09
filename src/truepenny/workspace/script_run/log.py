"""The two logs of a run, written while it runs, and what people see of it meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from truepenny.execute.process import Stream
from truepenny.system.clock import Clock
from truepenny.text.bound import Limits, bound
from truepenny.workspace.shape.tail import Tail

PROGRESS_SECONDS = 0.25
"""Between two lines of progress: as often as a person can read (tools spec 2.11)."""

PROGRESS_BYTES = 160
"""One line of progress."""


class RunLog:
    """Takes the text of both streams (`process.OnOutput`), already redacted.

    A log that cannot be written is not a reason to stop what runs: the problem is kept, the rest
    goes on, and the run does not count as a success. `written` counts the bytes in both files.
    Raises OSError where a log cannot be made.
    """

    def __init__(
        self, paths: dict[Stream, Path], progress: Callable[[str], None], clock: Clock
    ) -> None:
        self.tails: dict[Stream, Tail] = {"stdout": Tail(), "stderr": Tail()}
        self.problem = ""
        self.written = 0
        self._files: dict[Stream, int] = {}
        self._progress = progress
        self._clock = clock
        self._told = -PROGRESS_SECONDS
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            for stream, path in paths.items():
                self._files[stream] = os.open(path, flags, 0o600)
        except OSError:
            self.close()
            raise

    def feed(self, stream: Stream, text: str) -> None:
        """Take the next piece."""
        self.tails[stream].feed(text)
        self._write(stream, text)
        now = self._clock.monotonic()
        if now - self._told >= PROGRESS_SECONDS and (line := _last_line(text)):
            self._told = now
            self._progress(line)

    def close(self) -> None:
        """Close the logs; closing twice is harmless."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _write(self, stream: Stream, text: str) -> None:
        if self.problem:
            return
        rest = memoryview(text.encode("utf-8", "surrogatepass"))
        try:
            while rest:
                written = os.write(self._files[stream], rest)
                self.written += written
                rest = rest[written:]
        except OSError as error:
            self.problem = f"{stream}.log is not whole: {error.strerror or error}"


def _last_line(text: str) -> str:
    line = text.rstrip().rpartition("\n")[2].strip()
    return bound(line, Limits(bytes=PROGRESS_BYTES)).text.replace("\n", " ")
