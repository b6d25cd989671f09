"""What the check says of a sentence, and of an answer as a whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MOST_LISTED = 100
"""Sentences told one by one; an answer of more is counted in full and listed in part."""


class Verdict(StrEnum):
    """One per sentence. Only `contained` says that something was found."""

    CONTAINED = "contained"
    """It cites calls, and all that can be looked up in it is in what they returned."""
    NOT_CONTAINED = "not_contained"
    """It cites calls, and something of it is not in what they returned, or is against it."""
    UNCITED = "uncited"
    """It asserts an observation and cites no call that was made."""
    UNKNOWN = "unknown"
    """It cites, and nothing of it can be looked up mechanically, or the result is not at hand."""
    NO_OBSERVATION = "no_observation"
    """A question, an advice, or a word about the answer itself."""


MARKED = (Verdict.UNCITED, Verdict.NOT_CONTAINED)
"""What is marked where a person reads the answer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence with its verdict; `text` is `answer[start:end]`.

    `missing` is what was looked for and not found, `because` says in words why.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    calls: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    because: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the claim as JSON values."""
        return {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "verdict": self.verdict.value,
            "calls": list(self.calls),
            "missing": list(self.missing),
            "because": self.because,
        }


@dataclass(frozen=True, slots=True)
class Claims:
    """All sentences of one answer, in order."""

    sentences: tuple[Claim, ...] = ()

    @property
    def marked(self) -> tuple[Claim, ...]:
        """Those that a reader must be warned of."""
        return tuple(claim for claim in self.sentences if claim.verdict in MARKED)

    @property
    def counts(self) -> dict[str, int]:
        """How many sentences got each verdict; every verdict is there, also with 0."""
        found = Counter(claim.verdict for claim in self.sentences)
        return {verdict.value: found[verdict] for verdict in Verdict}

    def to_json(self) -> dict[str, Any]:
        """Return `{counts, sentences, omitted}`; `omitted` counts what the list leaves out."""
        listed = self.sentences[:MOST_LISTED]
        return {
            "counts": self.counts,
            "sentences": [claim.to_json() for claim in listed],
            "omitted": len(self.sentences) - len(listed),
        }
