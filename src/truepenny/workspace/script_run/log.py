"""The two logs of a run, written while it runs, and what people see of it meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from truepenny.execute.process import Stream
from truepenny.system.clock import Clock
from truepenny.text.bound import Limits, bound, utf8_length

TAIL_BYTES = 8 * 1024
"""Of each stream the result shows so much of its end (tools spec 2.11)."""

PROGRESS_SECONDS = 0.25
"""Between two lines of progress: as often as a person can read (tools spec 2.11)."""

PROGRESS_BYTES = 160
"""One line of progress."""


class Tail:
    """Keeps the end of a text that comes in pieces. `total` and `lines` count all of it."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self.total = 0
        self._most = most
        self._newlines = 0
        self._parts: list[str] = []
        self._held = 0

    def feed(self, text: str) -> None:
        """Take the next piece."""
        if not text:
            return
        self.total += utf8_length(text)
        self._newlines += text.count("\n")
        self._parts.append(text)
        self._held += len(text)
        if self._held > 4 * self._most:
            # A character has at least one byte: so many are always enough.
            self._parts = ["".join(self._parts)[-self._most :]]
            self._held = self._most

    @property
    def text(self) -> str:
        """The end, on whole lines where there are any."""
        whole = "".join(self._parts)
        raw = whole[-self._most :].encode("utf-8", "surrogatepass")
        if len(raw) == self.total:
            return whole
        begin = max(0, len(raw) - self._most)
        while begin < len(raw) and raw[begin] & 0xC0 == 0x80:
            begin += 1
        end = raw[begin:].decode("utf-8", "surrogatepass")
        after = end.find("\n") + 1
        return end[after:] if 0 < after <= len(end) // 2 else end

    @property
    def lines(self) -> int:
        """All lines, the last one without a line break too."""
        return self._newlines + bool(self._parts and not self._parts[-1].endswith("\n"))


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
