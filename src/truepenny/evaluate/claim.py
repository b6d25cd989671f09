"""What an answer asserts itself, as against what it quotes or denies.

Kept simple on purpose, so that a reader can predict it:

- Quoted text is no claim: fenced blocks, `code`, lines that begin with `>`, and text within
  double quotes on one line.
- A match is denied when a word of denial stands before it in the same sentence, at most
  `REACH` words away ("it was not killed", "no sign of a full disk").

A denial after the match ("DNS is not the cause") does not count as one: write patterns that name
the whole claim.
"""

from __future__ import annotations

import re

REACH = 8
"""How many words a denial reaches forward; longer sentences tend to have moved on."""

_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)"  # fenced, also when it never closes
    r"|`[^`\n]*`"
    r'|"[^"\n]*"'
    r"|“[^”\n]*”",
    re.DOTALL,
)
_DENIAL = re.compile(
    r"\W?(?:no|not|never|none|neither|nor|without|cannot|\w+n't|unrelated)\W?", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?:;]\s|\n")


def assertions(text: str) -> str:
    """Return the text with everything quoted replaced by one space."""
    return _QUOTED.sub(" ", _QUOTED_LINE.sub(" ", text))


def claims(text: str, pattern: re.Pattern[str]) -> str:
    """Return the first match that the text asserts, "" when it asserts none."""
    own = assertions(text)
    for match in pattern.finditer(own):
        if not _denied(own[: match.start()]):
            return match[0]
    return ""


def _denied(before: str) -> bool:
    sentence = _SENTENCE.split(before)[-1]
    return any(_DENIAL.fullmatch(word) for word in sentence.split()[-REACH:])
