"""What can be wrong with a history, and the record of setting it right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RepairKind(StrEnum):
    """What was wrong and was set right."""

    MISSING_RESULT = "missing_result"
    """A call without an answer got one that says so."""
    ORPHAN_RESULT = "orphan_result"
    """A result without a call, or a second one, was left out."""
    REORDERED_RESULT = "reordered_result"
    DUPLICATE_CALL_ID = "duplicate_call_id"
    """The later call got a new id."""
    MISSING_CALL_ID = "missing_call_id"
    INVALID_CALL_ID = "invalid_call_id"
    """An id that is too long, or that no line and no encoding can hold, got a new one."""
    INVALID_TOOL_NAME = "invalid_tool_name"
    EMPTY_MESSAGE = "empty_message"
    """A message with nothing in it was left out."""
    EMPTY_PART = "empty_part"
    EMPTY_RESULT = "empty_result"
    """A result without content got a line that says so."""
    WRONG_ORDER = "wrong_order"
    """A user message was put where a provider needs one."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair. `where` is the call id it concerns, or empty."""

    kind: RepairKind
    where: str = ""
    detail: str = ""
