"""The one redactor: secrets become `[REDACTED:rule]`, and what was masked is counted by rule.

Three ways in, one set of rules: `text` for a whole text, `stream` for one that comes in pieces,
`json` for a value whose structure says what is secret. Strip control sequences first
(`truepenny.text.control`): a colour code inside a secret would hide it. Redact before capping: a
cut secret may no longer look like one. Redacting twice changes nothing.

What the text form cannot know: the values of a Secret printed as YAML under keys that do not sound
secret. Read such objects as JSON and use `json`.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .known import KnownValues
from .redact_json import JsonRedaction
from .redact_stream import RedactStream
from .rule import Rule
from .scan import RuleSet

__all__ = ["KnownValues", "RedactStream", "Redacted", "Redactor", "TextStream"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how often each rule masked something."""

    text: str
    counts: dict[str, int] = field(default_factory=dict[str, int])


class TextStream(Protocol):
    """Redacts a text that comes in pieces."""

    @property
    def counts(self) -> dict[str, int]: ...
    def feed(self, text: str) -> str: ...
    def finish(self) -> str: ...


class Redactor:
    """Rules and known values, ready to use from any thread.

    `rules` None means all rules of `truepenny.text.rules`. `known` may be shared by redactors.
    """

    def __init__(
        self, rules: Sequence[Rule] | None = None, known: KnownValues | None = None
    ) -> None:
        self.known = KnownValues() if known is None else known
        self._given = None if rules is None else tuple(rules)
        self._open: Callable[[], TextStream] | None = None

    def reading(self, open_stream: Callable[[Redactor], TextStream]) -> Redactor:
        """Return one with the same rules and known values that reads a form of text its own way."""
        made = Redactor(self._given, self.known)
        made._open = lambda: open_stream(self)
        return made

    @functools.cached_property
    def _rules(self) -> RuleSet:
        return _standard() if self._given is None else RuleSet(self._given)

    def text(self, text: str) -> Redacted:
        """Redact a whole text."""
        stream = self.stream()
        done = stream.feed(text) + stream.finish()
        return Redacted(done, stream.counts)

    def stream(self) -> TextStream:
        """Return a stream for one text that comes in pieces."""
        return RedactStream(self._rules, self.known) if self._open is None else self._open()

    def json(self, value: Any) -> tuple[Any, dict[str, int]]:
        """Redact a JSON value by its structure; the value given is not changed."""
        walk = self.walk()
        return walk.value(value), walk.counts

    def walk(self) -> JsonRedaction:
        """Return a walk over JSON values that come one after the other."""
        return JsonRedaction(self.text, self._dirty)

    def _dirty(self, lines: Sequence[str]) -> set[int]:
        """Return which of some lines have something to mask; rules never look past a line."""
        hits = self._rules.scan("\n".join(lines), self.known)
        if not hits:
            return set()
        ends: list[int] = []
        at = 0
        for line in lines:
            at += len(line) + 1
            ends.append(at)
        return {bisect.bisect_right(ends, hit.start) for hit in hits}

    def learn(self, value: str, label: str = "known", *, certain: bool = False) -> bool:
        """Add a known secret; see `KnownValues.learn`."""
        return self.known.learn(value, label, certain=certain)


@functools.cache
def _standard() -> RuleSet:
    from .rules import RULES  # loaded and made ready at the first use, not at start-up

    return RuleSet(RULES)
