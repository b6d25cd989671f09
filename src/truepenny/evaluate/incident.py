"""Incidents with known causes: what is asked, what an answer must say and must not claim.

An incident is a folder with `incident.toml`:

    scenario, prompt, tags
    [[required]]   name, any = [patterns]            one of the patterns must be in the answer
    [[forbidden]]  name, any = [patterns], match     none of them may be claimed
    [limits]       seconds, tool_calls

Patterns are regular expressions, without regard to case. `match` says where a forbidden pattern
counts: `claim` (the default) only in the answer's own assertions (see `claim`), `anywhere` in
every character of it, for what must not be shown at all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from truepenny.errors import ConfigurationError

Match = Literal["claim", "anywhere"]

_KEYS = {"scenario", "prompt", "tags", "required", "forbidden", "limits"}

DEFAULT_SECONDS = 300.0
"""How long an answer may take: five minutes, what a person on call would wait."""

DEFAULT_TOOL_CALLS = 60
"""How many tool calls an answer may use; twice what the hardest shipped incident needs."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something an answer says: it does when any of the patterns is found."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    match: Match = "claim"


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` of wall time and number of tool calls for one answer."""

    seconds: float = DEFAULT_SECONDS
    tool_calls: int = DEFAULT_TOOL_CALLS


@dataclass(frozen=True, slots=True)
class Incident:
    """One question about one practice world, and how to judge the answer."""

    name: str
    scenario: str
    prompt: str
    required: tuple[Fact, ...]
    forbidden: tuple[Fact, ...] = ()
    tags: tuple[str, ...] = ()
    limits: Limits = Limits()


def incidents(root: Path, names: Sequence[str] = ()) -> list[Incident]:
    """Read the incidents below `root`, sorted by name; with `names` those alone.

    Raises ConfigurationError for a folder that is not there, an unknown name or a bad file.
    """
    if not root.is_dir():
        raise ConfigurationError("no such folder of incidents", where=str(root))
    known = sorted(path.parent.name for path in root.glob("*/incident.toml"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ConfigurationError(
            f"no incident named {', '.join(unknown)}", where=str(root), remedy=_offer(known)
        )
    return [read_incident(root / name) for name in known if not names or name in names]


def _offer(known: Sequence[str]) -> str:
    return f"There are: {', '.join(known)}." if known else "The folder holds no incident.toml."


def read_incident(folder: Path) -> Incident:
    """Read one incident's folder; a file that says something else raises ConfigurationError."""
    path = folder / "incident.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(str(error), where=str(path)) from error
    unknown = sorted(data.keys() - _KEYS)
    if unknown:
        raise ConfigurationError(f"unknown key {', '.join(unknown)}", where=str(path))
    try:
        incident = Incident(
            name=folder.name,
            scenario=data["scenario"],
            prompt=data["prompt"],
            required=tuple(_fact(one) for one in data["required"]),
            forbidden=tuple(_fact(one) for one in data.get("forbidden", [])),
            tags=tuple(data.get("tags", [])),
            limits=Limits(**data.get("limits", {})),
        )
    except (KeyError, TypeError, ValueError, re.error) as error:
        raise ConfigurationError(f"cannot be used: {error!r}", where=str(path)) from error
    if not incident.required:
        raise ConfigurationError("no required fact, so it proves nothing", where=str(path))
    return incident


def _fact(data: Mapping[str, Any]) -> Fact:
    match = data.get("match", "claim")
    if match not in get_args(Match):
        raise ValueError(f"match is {match!r}, not claim or anywhere")
    patterns = tuple(re.compile(pattern, re.IGNORECASE) for pattern in data["any"])
    if not patterns:
        raise ValueError(f"the fact {data['name']!r} has no pattern")
    return Fact(data["name"], patterns, match)
