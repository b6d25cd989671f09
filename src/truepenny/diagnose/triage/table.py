"""The rules' data: causes, exit codes and message patterns, read once from the TOML files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause code and its words. `{fields}` are filled by the rule that finds it.

    `change` is what a person should change; `check` a runnable read that shows more.
    """

    code: str
    rule: str
    severity: str
    sentence: str
    change: str
    check: str


@dataclass(frozen=True, slots=True)
class ExitCode:
    """What an exit code of a container says by itself."""

    code: int
    cause: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A message that tells a cause. Named groups fill the cause's sentence.

    `generic` patterns are tried after all others. `examples` match, `counter` must not.
    """

    cause: str
    regex: re.Pattern[str]
    examples: tuple[str, ...]
    counter: tuple[str, ...]
    generic: bool = False


@cache
def causes() -> Mapping[str, Cause]:
    """All causes by code."""
    table = _read("causes.toml")
    return {code: Cause(code=code, **entry) for code, entry in table.items()}


@cache
def exit_codes() -> Mapping[int, ExitCode]:
    """Exit codes with a known meaning."""
    return {entry["code"]: ExitCode(**entry) for entry in _read("exit_codes.toml")["exit"]}


@cache
def patterns(table: str) -> tuple[Pattern, ...]:
    """The patterns of one table: `log`, `image`, `creation`, `start` or `mount`."""
    return tuple(
        Pattern(
            cause=entry["cause"],
            regex=re.compile(entry["regex"], re.IGNORECASE if entry.get("fold", True) else 0),
            examples=tuple(entry["examples"]),
            counter=tuple(entry["counter"]),
            generic=entry.get("generic", False),
        )
        for entry in _read("patterns.toml")[table]
    )


def match(table: str, message: str) -> tuple[Pattern, re.Match[str]] | None:
    """Return the first pattern of a table that a message matches."""
    for generic in (False, True):
        for pattern in patterns(table):
            found = pattern.regex.search(message) if pattern.generic is generic else None
            if found:
                return pattern, found
    return None


def last_match(table: str, lines: list[str]) -> tuple[Pattern, re.Match[str], str] | None:
    """Search lines from the last one upwards; specific patterns anywhere beat generic ones.

    A program says why it stops in its last words, so the lowest line wins.
    """
    for generic in (False, True):
        for line in reversed(lines):
            for pattern in patterns(table):
                found = pattern.regex.search(line) if pattern.generic is generic else None
                if found:
                    return pattern, found, line
    return None


def _read(name: str) -> dict[str, Any]:
    written = files("truepenny.diagnose.triage").joinpath("data", name).read_text(encoding="utf-8")
    return tomllib.loads(written)
