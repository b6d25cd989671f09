"""What a session came to, counted from its transcript; damage in the file is counted too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from truepenny.model.cost import by_basis
from truepenny.model.usage import Cost, Usage, add

from .record import Record, decode_usage
from .transcript import Transcript


@dataclass(frozen=True, slots=True)
class SessionStats:
    """Counts of one session.

    `unfinished` turns began and have no recorded end. `costs` are by basis, then by currency:
    charges of different bases are never added up. `duration` is seconds from the first to the
    last record, None if a time is not readable. `calls` counts finished calls by outcome,
    `open_calls` those without a result.
    """

    session: str
    turns: int = 0
    unfinished: int = 0
    stops: Mapping[str, int] = field(default_factory=dict[str, int])
    requests: int = 0
    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    open_calls: int = 0
    repairs: int = 0
    retries: int = 0
    usage: Usage | None = None
    costs: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    duration: float | None = None
    malformed: int = 0
    tail: str = "none"

    def to_json(self) -> Record:
        """Return the counts as JSON values; `costs` as a list of `{basis, currency, amount}`."""
        usage = self.usage
        return {
            "session": self.session,
            "turns": self.turns,
            "unfinished": self.unfinished,
            "stops": dict(self.stops),
            "requests": self.requests,
            "calls": dict(self.calls),
            "open_calls": self.open_calls,
            "repairs": self.repairs,
            "retries": self.retries,
            "usage": usage
            and {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_read_tokens": usage.cache_read_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
                "reasoning_tokens": usage.reasoning_tokens,
            },
            "costs": [
                {"basis": basis, "currency": currency, "amount": amount}
                for basis, sums in self.costs.items()
                for currency, amount in sums.items()
            ],
            "duration": self.duration,
            "malformed": self.malformed,
            "tail": self.tail,
        }


def stats(transcript: Transcript) -> SessionStats:
    """Count a transcript."""
    kinds = Counter[str](record["type"] for record in transcript.records)
    stops, calls = Counter[str](), Counter[str]()
    costs: list[Cost | None] = []
    usage: Usage | None = None
    asked: set[str] = set()
    requests = 0
    for record in transcript.records:
        match record["type"]:
            case "stop":
                stops[str(record.get("kind"))] += 1
            case "tool":
                asked.add(str(record.get("call")))
            case "result":
                calls[str(record.get("outcome"))] += 1
                asked.discard(str(record.get("call")))
            case "message" | "partial" if record.get("role") == "assistant":
                requests += 1
                found = decode_usage(record.get("usage"))
                usage = add(usage, found)
                costs.append(found and found.cost)
            case _:
                continue
    return SessionStats(
        transcript.session,
        turns=kinds["turn"],
        unfinished=max(kinds["turn"] - kinds["stop"], 0),
        stops=stops,
        requests=requests,
        calls=calls,
        open_calls=len(asked),
        repairs=kinds["repair"],
        retries=kinds["retry"],
        usage=usage,
        costs=by_basis(costs),
        duration=_duration(transcript),
        malformed=transcript.malformed,
        tail=transcript.tail,
    )


def _duration(transcript: Transcript) -> float | None:
    first = moment(transcript.header.get("ts"))
    last = moment(transcript.records[-1].get("ts")) if transcript.records else first
    return None if first is None or last is None else (last - first).total_seconds()


def moment(value: Any) -> datetime | None:
    """Return the time of a record, or None if it is not one."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
