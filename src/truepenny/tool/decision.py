"""The answer of an admission: allow, ask or deny, with a reason that machines can read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What may happen with a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    """One verdict: a machine word, the rule it came from, and a hint at what works instead."""

    verdict: Verdict
    reason: str = ""
    rule: str = ""
    message: str = ""
    hint: str = ""
    matched: str = ""


ALLOW = Decision(Verdict.ALLOW)


def deny(
    reason: str, message: str, *, rule: str = "", hint: str = "", matched: str = ""
) -> Decision:
    """Return a denial."""
    return Decision(Verdict.DENY, reason, rule, message, hint, matched)
