"""One output stream while it is read: decode, sanitize, redact, bound; in this order.

Redacting comes before cutting, or a secret across the cut would survive it; decoding comes before
redacting, or a character across two reads would be broken; terminal sequences go in between, or a
colour code inside a secret would hide it (and would reach somebody's terminal).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from truepenny.text.bound import HeadTail, Limits
from truepenny.text.control import ControlStripper
from truepenny.text.decode import BadBytes, Decoder
from truepenny.text.redact import Redactor

from .ending import ByteCounts


@dataclass(frozen=True, slots=True)
class Captured:
    """What one stream held. `text` has a marker where it was cut.

    `bytes.observed` counts raw bytes; what was discarded is counted in the decoded, redacted text,
    which is the same number unless bytes were escaped or masked. `lines` counts all that came,
    `kept_lines` those in `text`. `bad_bytes` are the first bytes that are not UTF-8, each with its
    offset; `bad_count` counts all of them. `controls` counts terminal sequences, control and
    hidden characters that were dropped or are shown as `\\uXXXX`.
    """

    text: str = ""
    bytes: ByteCounts = field(default_factory=ByteCounts)
    lines: int = 0
    kept_lines: int = 0
    bad_bytes: tuple[BadBytes, ...] = ()
    bad_count: int = 0
    controls: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])
    cut: bool = False


class Capture:
    """A stream being read. Feed raw bytes as they come, then finish once.

    Without a redactor the text stays as it was written.
    """

    def __init__(self, limits: Limits, redactor: Redactor | None) -> None:
        self.observed = 0
        self._decoder = Decoder()
        self._redacting = None if redactor is None else redactor.stream()
        self._stripper = ControlStripper()
        self._kept = HeadTail(limits)

    def feed(self, data: bytes) -> str:
        """Take raw bytes; return the text that is now certain, which may lag behind the bytes."""
        self.observed += len(data)
        text = self._decoder.feed(data)
        if self._redacting is not None:
            text = self._redacting.feed(self._stripper.feed(text))
        self._kept.feed(text)
        return text

    def finish(self) -> tuple[str, Captured]:
        """Return the last text and the whole account."""
        text = self._decoder.finish()
        redactions: Mapping[str, int] = {}
        if self._redacting is not None:
            text = self._stripper.feed(text) + self._stripper.finish()
            text = self._redacting.feed(text) + self._redacting.finish()
            redactions = dict(self._redacting.counts)
        self._kept.feed(text)
        bounded = self._kept.finish()
        lost = min(max(bounded.total_bytes - bounded.kept_bytes, 0), self.observed)
        return text, Captured(
            text=bounded.text,
            bytes=ByteCounts(self.observed, self.observed - lost, lost),
            lines=bounded.total_lines,
            kept_lines=bounded.kept_lines,
            bad_bytes=tuple(self._decoder.bad),
            bad_count=self._decoder.bad_count,
            controls=self._stripper.removed,
            redactions=redactions,
            cut=bounded.cut,
        )
