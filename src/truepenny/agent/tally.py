"""What a turn or a run used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from truepenny.model.usage import Usage, add

from .record import Record, encode_usage


@dataclass(slots=True, eq=False)
class Tally:
    """What was used: model requests, tool calls by outcome, tokens as reported."""

    turns: int = 0
    requests: int = 0
    calls: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    usage: Usage | None = None

    def count_usage(self, usage: Usage | None) -> None:
        """Add the tokens of one request."""
        self.usage = add(self.usage, usage)

    def merge(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.turns += other.turns
        self.requests += other.requests
        self.calls += other.calls
        self.outcomes.update(other.outcomes)
        self.count_usage(other.usage)

    def to_json(self, duration: float) -> Record:
        """Return `{turns, requests, calls, outcomes, usage, duration}`; null usage: unreported."""
        return {
            "turns": self.turns,
            "requests": self.requests,
            "calls": self.calls,
            "outcomes": dict(self.outcomes),
            "usage": self.usage and encode_usage(self.usage),
            "duration": round(duration, 3),
        }
