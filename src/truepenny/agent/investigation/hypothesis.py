"""Hypotheses of one session: what may be the case, and which calls speak for and against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, cast, get_args

State = Literal["open", "supported", "rejected", "unresolved"]
Confidence = Literal["low", "medium", "high"]
STATES: tuple[str, ...] = get_args(State)
CONFIDENCES: tuple[str, ...] = get_args(Confidence)

MOST = 24
"""Hypotheses of a session: nobody weighs more of them at once."""
MOST_CALLS = 20
"""Calls for, and against, one hypothesis; the strongest few are enough to judge it."""
MOST_CHARS = 400
"""Characters of a claim or a next check: two sentences."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One assumption. `supports` and `against` are call ids.

    `explains` is the id of the hypothesis that this one is the cause of, "" where it explains what
    was asked about itself. `next_check` is what would decide it.
    """

    id: str
    claim: str
    state: State = "open"
    confidence: Confidence = "low"
    supports: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    explains: str = ""
    next_check: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        made: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            made[field.name] = (
                list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
            )
        return made


class Hypotheses:
    """The hypotheses of a session in the order in which they came up."""

    def __init__(self) -> None:
        self._held: dict[str, Hypothesis] = {}

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    def get(self, name: str) -> Hypothesis | None:
        """Return the hypothesis of an id."""
        return self._held.get(name)

    def put(self, one: Hypothesis) -> bool:
        """Add or replace a hypothesis; return whether anything is different now."""
        changed = self._held.get(one.id) != one
        self._held[one.id] = one
        return changed

    def to_json(self) -> list[dict[str, Any]]:
        """Return all of them."""
        return [one.to_json() for one in self]

    def restore(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take over what earlier runs of the session recorded; unusable records are left out."""
        for record in records:
            if record.get("type") != "result" or record.get("tool") != "hypothesis":
                continue
            detail = _mapping(_mapping(record.get("facts")).get("detail"))
            if one := from_json(_mapping(detail.get("hypothesis"))):
                self._held[one.id] = one


def from_json(found: Mapping[str, Any]) -> Hypothesis | None:
    """Read one hypothesis back, None where it is none."""
    name, claim = found.get("id"), found.get("claim")
    state, confidence = found.get("state"), found.get("confidence")
    if not isinstance(name, str) or not isinstance(claim, str):
        return None
    if state not in STATES or confidence not in CONFIDENCES:
        return None
    return Hypothesis(
        name,
        claim,
        cast("State", state),
        cast("Confidence", confidence),
        _texts(found.get("supports")),
        _texts(found.get("against")),
        str(found.get("explains") or ""),
        str(found.get("next_check") or ""),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))
