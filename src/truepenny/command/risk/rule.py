"""The rules of risk as data: a class, the programs it is about and a pattern over arguments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent


class RiskClass(StrEnum):
    """What a command does, from the lightest to the gravest in `GRAVITY`."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    UNKNOWN = "unknown"
    """It could not be read, so nothing is known of it."""
    SYSTEM_MODIFY = "system_modify"
    GIT_DESTRUCTIVE = "git_destructive"


GRAVITY = tuple(RiskClass)
"""The order in which the class of a line is that of its gravest command."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `yes` and `no` are lines that pin it from both sides."""

    name: str
    risk: RiskClass
    programs: frozenset[str]
    match: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    yes: tuple[str, ...]
    no: tuple[str, ...]

    def applies(self, arguments: str) -> bool:
        """Whether the rule is about a command of its programs with these arguments."""
        if self.match is not None and not self.match.search(arguments):
            return False
        return self.unless is None or not self.unless.search(arguments)


@lru_cache(maxsize=1)
def rules() -> Mapping[str, Rule]:
    """Return the rules by name."""
    tables = tomllib.loads((_FOLDER / "rules.toml").read_text(encoding="utf-8"))
    return {
        name: Rule(
            name,
            RiskClass(table["class"]),
            frozenset(str(table["programs"]).split()),
            re.compile(str(table["match"])) if "match" in table else None,
            re.compile(str(table["unless"])) if "unless" in table else None,
            tuple(map(str, table["yes"])),
            tuple(map(str, table["no"])),
        )
        for name, table in tables.items()
    }


@lru_cache(maxsize=1)
def by_program() -> Mapping[str, tuple[Rule, ...]]:
    """Return the rules about each program."""
    found: dict[str, list[Rule]] = {}
    for rule in rules().values():
        for program in rule.programs:
            found.setdefault(program, []).append(rule)
    return {program: tuple(about) for program, about in found.items()}


@lru_cache(maxsize=1)
def recognised() -> re.Pattern[str]:
    """Return the pattern of one command that needs no person."""
    tables = tomllib.loads((_FOLDER / "recognised.toml").read_text(encoding="utf-8"))
    return re.compile("|".join(f"(?:{shape})" for shapes in tables.values() for shape in shapes))
