"""Whether a word reaches a sensitive place: by its text, or by the files a pattern would match.

Paths are compared after `//`, `/./` and `/../` are gone; links cannot be seen in a text, and the
sandbox and the permissions of the target are what holds them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from truepenny.command.shell.word import GLOB, Word

from .metadata import metadata_host

_FILE = Path(__file__).with_name("places.toml")
_SEPARATORS = re.compile(r"[=:,@;\s\"'<>()]+")
_REPEATED = re.compile(r"/(?:\.?/)+")
_STEP = re.compile(r"(?:^|/)(?!\.\.?/)[^/]+/\.\.(?=/|$)")


METADATA = "instance metadata hands out credentials"


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of sensitive place. `examples` are paths, `fine` neighbours that are none."""

    name: str
    pattern: str
    examples: tuple[str, ...]
    fine: tuple[str, ...]
    advice: str
    listable: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """`expands_onto` is the example that a pattern would reach, or empty."""

    place: str
    text: str
    advice: str
    listable: bool = False
    expands_onto: str = ""


@lru_cache(maxsize=1)
def places() -> Mapping[str, Place]:
    """Return the places by name."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: Place(
            name,
            str(table["pattern"]),
            tuple(map(str, table["examples"])),
            tuple(map(str, table["fine"])),
            str(table["advice"]),
            bool(table.get("listable", False)),
        )
        for name, table in tables.items()
    }


@lru_cache(maxsize=1)
def _any() -> re.Pattern[str]:
    groups = "|".join(f"(?P<{place.name}>{place.pattern})" for place in places().values())
    return re.compile(f"(?:^|/)(?:{groups})", re.DOTALL)


def find(word: Word, *, file: bool) -> Match | None:
    """Return the sensitive place that a word reaches, or None.

    `file` says that the program opens the word as a file, so that a bare name counts too.
    """
    if GLOB in word.expands:
        found = _by_glob(word)
        if found is not None:
            return found
    return find_text(word.text, file=file)


def find_text(text: str, *, file: bool) -> Match | None:
    """Return the sensitive place that a text names, in any of its parts."""
    if not (file or "/" in text):
        return None
    parts = {text, *_SEPARATORS.split(text)}
    pattern = _any()
    for part in parts:
        if "/" not in part and not file:
            continue
        match = pattern.search(normalised(part))
        if match is not None:
            name = match.lastgroup or ""
            return Match(name, part, places()[name].advice, places()[name].listable)
        if "/" in part and (host := metadata_host(part)):
            return Match("metadata", host, METADATA)
    host = metadata_host(text) if "/" in text else ""
    return Match("metadata", host, METADATA) if host else None


def normalised(path: str) -> str:
    """Return the path without empty, `.` and `..` steps."""
    if "/" not in path:
        return path
    path = _REPEATED.sub("/", path)
    while "/.." in path:
        shorter = _REPEATED.sub("/", _STEP.sub("", path, count=1))
        if shorter == path:
            break
        path = shorter
    return path


def _by_glob(word: Word) -> Match | None:
    text = _REPEATED.sub("/", word.text)
    pattern = _glob_pattern(word)
    if pattern is None:
        return Match("pattern", word.raw, "the pattern cannot be judged")
    for place in places().values():
        for example in place.examples:
            if pattern.fullmatch(example):
                return Match(place.name, text, place.advice, place.listable, example)
    return None


def _glob_pattern(word: Word) -> re.Pattern[str] | None:
    """Return the pattern as bash matches it with globstar off, `**` taken as if it were on."""
    out: list[str] = []
    for piece in word.pieces:
        if piece.quoted:
            out.append(re.escape(piece.text))
            continue
        at, text = 0, piece.text
        while at < len(text):
            char = text[at]
            at += 1
            if char == "*":
                wide = text.startswith("*", at)
                at += wide
                hidden = "" if wide or not _begins(out) else r"(?!\.)"
                out.append(".*" if wide else f"{hidden}[^/]*")
            elif char == "?":
                out.append((r"(?!\.)" if _begins(out) else "") + "[^/]")
            elif char == "[":
                end = text.find("]", at + 1)
                if end < 0:
                    out.append(r"\[")
                    continue
                # Any member: a set is not read closely, so it reaches more than bash would.
                out.append("[^/]")
                at = end + 1
            else:
                out.append(re.escape(char))
    source = _REPEATED.sub("/", "".join(out))
    if ".." in word.text:
        return None
    try:
        return re.compile(source, re.DOTALL)
    except re.error:
        return None


def _begins(out: list[str]) -> bool:
    return not out or out[-1].endswith("/")
