"""What an answer asserts itself, as against what it quotes or denies.

Kept simple on purpose, so that a reader can predict it:

- Quoted text is no claim: fenced blocks, `code`, lines that begin with `>`, and text within
  double quotes on one line.
- A match is denied when a word of denial stands before it in the same clause, at most
  `REACH` words away ("it was not killed", "no sign of a full disk").
- A match is denied when the clause goes on to clear it: at most `CLEARED_WITHIN` words later it
  "is not the cause" or "was ruled out".
"""

from __future__ import annotations

import re

from .sentence import QUOTED, QUOTED_LINE, first_clause, last_clause

REACH = 8
"""How many words a denial reaches forward; longer sentences tend to have moved on."""

CLEARED_WITHIN = 3
"""How many words may stand between what is cleared and its verdict ("DNS in this cluster is
not the cause"): with more of them the verdict is mostly about something else."""

_DENIAL = re.compile(
    r"\W*(?:no|not|never|none|neither|nor|nothing|nobody|without|cannot|unrelated|\w+n['’]t)\W*",
    re.IGNORECASE,
)
_CLEARED = re.compile(
    rf"\W*(?:[\w/.-]+\W+){{0,{CLEARED_WITHIN}}}?"
    r"(?:(?:is|was|are|were)(?:\s+(?:not|never)|n['’]t)\s+(?:\w+\s+){0,2}?"
    r"(?:causes?|reasons?|problem|culprit|blame|responsible|involved|relevant|it)\b"
    r"|(?:is|was|are|were|has been|have been|can be)\s+"
    r"(?:ruled out|excluded|unlikely|innocent|cleared|denied)\b)",
    re.IGNORECASE,
)


def assertions(text: str) -> str:
    """Return the text with everything quoted replaced by one space."""
    return QUOTED.sub(" ", QUOTED_LINE.sub(" ", text))


def claims(text: str, pattern: re.Pattern[str]) -> str:
    """Return the first match that the text asserts, "" when it asserts none."""
    own = assertions(text)
    for match in pattern.finditer(own):
        if not denied(own, match.start(), match.end()):
            return match[0]
    return ""


def denied(text: str, start: int, end: int) -> bool:
    """Whether the clause around `text[start:end]` denies it."""
    return denied_before(text[:start]) or cleared_after(text[end:])


def denied_before(before: str) -> bool:
    """Whether a denial reaches over the end of `before`."""
    return any(_DENIAL.fullmatch(word) for word in last_clause(before).split()[-REACH:])


def cleared_after(after: str) -> bool:
    """Whether the clause that `after` begins in clears what stands before it."""
    return _CLEARED.match(first_clause(after)) is not None


def is_denial(word: str) -> bool:
    """Whether one word denies what follows it."""
    return _DENIAL.fullmatch(word) is not None
