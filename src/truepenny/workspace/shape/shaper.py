"""Shaping what a run writes, while it writes it: never more in memory than a result may hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from truepenny.execute.process import Stream
from truepenny.text.bound import Bounded, HeadTail, Limits, utf8_length

from .policy import Policy
from .summary import FIRST_LINES, LAST_LINES, LINE_BYTES, Summary

RESULT_BYTES = 16 * 1024
"""No result of a command is longer, the lines before the output included (tools spec 2.4)."""

HEAD_BYTES = 2 * 1024
"""Set aside of it for those lines: outcome, exit, sandbox, what was cut and where it is."""

BODY_BYTES = RESULT_BYTES - HEAD_BYTES

BOUNDED_BYTES = 8 * 1024
"""What `bounded` shows: most outputs are shorter, and small models have small windows."""

WHOLE_BYTES = 2 * RESULT_BYTES
"""Up to here all of it is held: more than two streams that are each kept whole can have."""

ERRORS_TITLE = "STDERR:\n"


@dataclass(frozen=True, slots=True)
class Shaped:
    """What is shown. `kept` counts the bytes of the output in `text`, `total` all of it (decoded
    and redacted); lines likewise. `sha256` is of all of it, of a summary alone."""

    text: str
    kept: int
    total: int
    shown_lines: int
    total_lines: int
    cut: bool
    downgraded: str = ""
    """Why the policy that was asked for could not be followed; empty where it was."""
    sha256: str = ""
    error_lines: int | None = None
    whole: str | None = None
    """All of the output in the order it came, where that is short."""


@dataclass(slots=True)
class _Stream:
    kept: HeadTail = field(default_factory=lambda: HeadTail(Limits(bytes=BODY_BYTES)))
    bytes: int = 0
    newlines: int = 0
    open: bool = False

    @property
    def lines(self) -> int:
        return self.newlines + self.open

    def feed(self, text: str) -> None:
        self.kept.feed(text)
        self.bytes += utf8_length(text)
        self.newlines += text.count("\n")
        self.open = not text.endswith("\n")


class Shaper:
    """Takes the text of both streams as it becomes certain (`process.OnOutput`), then finishes."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._streams: dict[Stream, _Stream] = {"stdout": _Stream(), "stderr": _Stream()}
        self._summary = Summary() if policy is Policy.SUMMARY else None
        self._hash = hashlib.sha256()
        self._pieces: list[str] | None = []

    def feed(self, stream: Stream, text: str) -> None:
        """Take the next piece; empty ones are harmless."""
        if not text:
            return
        self._streams[stream].feed(text)
        if self._summary is not None:
            self._summary.feed(stream, text)
            self._hash.update(text.encode("utf-8", "surrogatepass"))
        if self._pieces is not None:
            self._pieces.append(text)
            if self._total > WHOLE_BYTES:
                self._pieces = None

    @property
    def _total(self) -> int:
        return sum(stream.bytes for stream in self._streams.values())

    def finish(self) -> Shaped:
        """Return what is shown; call it once."""
        whole = None if self._pieces is None else "".join(self._pieces)
        lines = sum(stream.lines for stream in self._streams.values())
        if self._policy is Policy.METADATA_ONLY:
            return Shaped("", 0, self._total, 0, lines, self._total > 0, whole=whole)
        if self._summary is not None and not _short(whole):
            picked = self._summary.finish()
            return Shaped(
                picked.text,
                min(picked.kept, self._total),
                self._total,
                picked.shown_lines,
                picked.total_lines,
                picked.cut,
                sha256=self._hash.hexdigest(),
                error_lines=picked.error_lines,
                whole=whole,
            )
        room = BODY_BYTES if self._policy is Policy.FULL else BOUNDED_BYTES
        out, err = self._share(room)
        text, downgraded = out.text, ""
        if err.text:
            joint = "\n" if text and not text.endswith("\n") else ""
            text = f"{text}{joint}{ERRORS_TITLE}{err.text}"
        cut = out.cut or err.cut
        if cut and self._policy is Policy.FULL:
            downgraded = f"{self._total} bytes are more than the {room} of a result"
        return Shaped(
            text,
            out.kept_bytes + err.kept_bytes,
            self._total,
            out.kept_lines + err.kept_lines,
            lines,
            cut,
            downgraded,
            sha256=self._hash.hexdigest() if self._summary is not None else "",
            whole=whole,
        )

    def _share(self, room: int) -> tuple[Bounded, Bounded]:
        """Half of the room is sure for each stream; what one does not need, the other gets."""
        out, err = self._streams["stdout"], self._streams["stderr"]
        if err.bytes:
            room -= len(ERRORS_TITLE) + 1  # and the line break before it
        half = room // 2
        for_err = min(err.bytes, max(half, room - out.bytes))
        for_out = min(out.bytes, room - for_err)
        return (
            out.kept.finish(Limits(bytes=for_out)),
            err.kept.finish(Limits(bytes=for_err)),
        )


def _short(whole: str | None) -> bool:
    """Whether a summary would leave nothing out but blank lines: then all of it is shown."""
    if whole is None:
        return False
    lines = whole.splitlines()
    return len(lines) <= FIRST_LINES + LAST_LINES and all(
        utf8_length(line) <= LINE_BYTES for line in lines
    )
