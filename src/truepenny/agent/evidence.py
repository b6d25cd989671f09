"""Which calls an answer cites, checked against the ledger: a citation nobody made is named."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

_BRACKETED = re.compile(r"\[([A-Za-z0-9_.:-]{1,80}(?:\s*,\s*[A-Za-z0-9_.:-]{1,80})*)\]")
_LOOKS_LIKE_A_CALL = re.compile(r"(?:call|toolu|fc|tool)[_-][A-Za-z0-9_-]+")
"""Shapes of call ids: ours and those of the three wires. Other bracketed words are only prose."""


@dataclass(frozen=True, slots=True)
class Citations:
    """Call ids cited by an answer, each once, in order. `unresolved` ones are in no ledger row."""

    resolved: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


def citations(answer: str, known: Container[str]) -> Citations:
    """Return what `answer` cites in square brackets, by whether `known` holds it."""
    resolved: dict[str, None] = {}
    unresolved: dict[str, None] = {}
    for group in _BRACKETED.findall(answer):
        for word in group.split(","):
            name = word.strip()
            if name in known:
                resolved[name] = None
            elif _LOOKS_LIKE_A_CALL.fullmatch(name):
                unresolved[name] = None
    return Citations(tuple(resolved), tuple(unresolved))
