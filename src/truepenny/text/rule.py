"""What a redaction rule is. Rules are data; `truepenny.text.rules` holds them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

MASK_PATTERN = re.compile(r"\[REDACTED:[A-Za-z0-9_.-]{1,64}\]")
"""What a mask looks like, ours or an earlier one's."""

TOKEN_END = " \t\r\n\"'<>\\`"
"""Characters that end a secret of unknown length."""


ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
KEY_CHARS = ALNUM + "_.-/"
"""Characters of a key name; `/` for annotation keys and paths."""

MAX_BACK = 128
"""Characters that are stepped over at most."""


def mask(name: str) -> str:
    """Return the mask that stands for a secret found by the rule or under the label `name`."""
    return f"[REDACTED:{name}]"


@dataclass(frozen=True, slots=True)
class Span:
    """Where a secret stands. `until` are the characters that end it, should the text be cut inside.

    `opens` says that the lines after this one belong to it too: `pem` up to the END line, `block`
    a deeper indented run, `nested` the values of a deeper indented mapping, `value` the `value:`
    of the next line, `item` the next list item, `strings` every value of a deeper indented mapping,
    `data` those of one in which all are base64.
    """

    start: int
    end: int
    until: str = TOKEN_END
    opens: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of secret is found within a line.

    A match contains one of the literal `anchors` (compared in lower case where `folded`), so that
    clean text costs one search for all rules together. `pattern` is matched where the anchor
    begins or, with `back`, after the characters named there have been stepped over backwards. The
    group `secret` is masked, without such a group the whole match; `locate`, where given, decides
    instead and may refuse. A match never spans a line break, and all of it but the secret itself
    is shorter than 2,000 characters.

    `positive` are texts in which the rule finds something, `negative` texts that look alike and
    must come out unchanged by every rule; a test runs both.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: str
    positive: tuple[str, ...]
    negative: tuple[str, ...] = ()
    folded: bool = False
    back: str = ""
    flags: int = 0
    locate: Callable[[re.Match[str]], Span | None] | None = None

    def find(self, text: str, at: int) -> tuple[int, Span] | None:
        """Match at `at`; return where the match begins and the span of its secret."""
        match = self.compiled.match(text, at)
        if match is None:
            return None
        if self.locate is not None:
            span = self.locate(match)
            return None if span is None else (match.start(), span)
        group = "secret" if "secret" in match.re.groupindex else 0
        return match.start(), Span(match.start(group), match.end(group))

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when the first anchor is seen."""
        return _compile(self.pattern, self.flags | (re.IGNORECASE if self.folded else 0))


@functools.lru_cache(maxsize=1024)
def _compile(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)
