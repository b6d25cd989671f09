"""From a TOML table of programs to their grammars; a table that is not understood is an error.

The keys of a program: `also`, `style`, `switches`, `values`, `pairs`, `optional`, `spaced`,
`operands`, `subcommands`, `bare`, `number`, `required`, `why`, `feeds`, `expression`,
`expression_flags`, `names`, `judge`. Lists of spellings are one string, split at blanks. `values`,
`optional` and `spaced` map a kind of value to the flags that take it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast, get_args

from truepenny.errors import ConfigurationError

from .grammar import CONTEXTS, Arity, Flag, Grammar, Operand, Program, Style

FOLDER = Path(__file__).parents[1] / "programs"

_KEYS = frozenset(
    (
        "also",
        "bare",
        "expression",
        "expression_flags",
        "feeds",
        "judge",
        "names",
        "number",
        "operands",
        "optional",
        "pairs",
        "required",
        "spaced",
        "style",
        "subcommands",
        "switches",
        "values",
        "why",
    )
)
_SPELLING = re.compile(r"[-+][A-Za-z0-9@][A-Za-z0-9_.-]*|--[A-Za-z0-9][A-Za-z0-9_.-]*")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


class TableInvalid(ConfigurationError):
    """A table of programs that cannot be used; `where` names the place in it."""

    def __init__(self, message: str) -> None:
        where, _, rest = message.rpartition(": ")
        super().__init__(rest, where=where)


@lru_cache(maxsize=1)
def programs() -> Mapping[str, Program]:
    """Return the built-in programs by name."""
    found: dict[str, Program] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for program in read(path.read_text(encoding="utf-8"), path.name):
            if program.name in found:
                raise TableInvalid(f"{path.name}: {program.name} is named twice")
            found[program.name] = program
    return found


def read(text: str, place: str, *, judges: bool = True) -> Iterator[Program]:
    """Yield the programs of a table. Raises TableInvalid naming the place."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableInvalid(f"{place}: {error}") from None
    family = _table(document.pop("family", None), f"{place}: family")
    name = _string(family.pop("name", ""), f"{place}: family.name")
    contexts = family.pop("contexts", None)
    if not isinstance(contexts, list) or not contexts:
        raise TableInvalid(f"{place}: family.contexts is a list of contexts")
    for context in cast("list[object]", contexts):
        if context not in CONTEXTS:
            raise TableInvalid(f"{place}: family.contexts: {context!r} is no context")
    if family:
        raise TableInvalid(f"{place}: family: unknown key {next(iter(family))!r}")
    for key, value in document.items():
        where = f"{place}: {key}"
        table = _table(value, where)
        names = [key, *_strings(table.pop("also", []), f"{where}.also")]
        grammar = _grammar(table, where, "gnu")
        if grammar.judge and not judges:
            raise TableInvalid(f"{where}: judge is for built-in programs")
        for spelled in names:
            if not _NAME.fullmatch(spelled):
                raise TableInvalid(f"{where}: {spelled!r} is no name of a program")
            yield Program(spelled, name, frozenset(cast("list[str]", contexts)), grammar)


def _grammar(table: dict[str, object], where: str, inherited: Style) -> Grammar:
    for key in table:
        if key not in _KEYS:
            raise TableInvalid(f"{where}: unknown key {key!r}")
    style = _string(table.get("style", inherited), f"{where}.style")
    if style not in get_args(Style):
        raise TableInvalid(f"{where}.style: {style!r} is none of {', '.join(get_args(Style))}")
    flags: dict[str, Flag] = {}
    _add(flags, _split(table, "switches", where), "none", "", where)
    _add(flags, _split(table, "pairs", where), "two", "pattern", where)
    for key, arity in (("values", "one"), ("optional", "attached"), ("spaced", "spaced")):
        for kind, spellings in _texts(table.get(key, {}), f"{where}.{key}").items():
            _add(flags, spellings.split(), cast("Arity", arity), kind, where)
    subcommands: dict[str, Grammar] = {}
    nested = _table(table.get("subcommands", {}), f"{where}.subcommands")
    for names, value in nested.items():
        inner = _grammar(
            _table(value, f"{where} {names}"), f"{where} {names}", cast("Style", style)
        )
        for name in names.split():
            if name in subcommands:
                raise TableInvalid(f"{where}: subcommand {name!r} is named twice")
            subcommands[name] = inner
    required = _texts(table.get("required", {}), f"{where}.required")
    why = _texts(table.get("why", {}), f"{where}.why")
    for spelling in why:
        if spelling in flags:
            raise TableInvalid(f"{where}: {spelling} is both allowed and refused")
    return Grammar(
        style=cast("Style", style),
        flags=flags,
        operands=tuple(_operands(_split(table, "operands", where), where)),
        subcommands=subcommands,
        bare=_boolean(table.get("bare", False), f"{where}.bare"),
        number=_boolean(table.get("number", False), f"{where}.number"),
        required={frozenset(spellings.split("|")): adds for spellings, adds in required.items()},
        why=why,
        feeds=_boolean(table.get("feeds", True), f"{where}.feeds"),
        expression=_count(table.get("expression", 0), f"{where}.expression"),
        expression_flags=frozenset(_split(table, "expression_flags", where)),
        names=_boolean(table.get("names", False), f"{where}.names"),
        judge=_string(table.get("judge", ""), f"{where}.judge"),
    )


def _add(flags: dict[str, Flag], spellings: list[str], arity: Arity, kind: str, where: str) -> None:
    for spelling in spellings:
        if not _SPELLING.fullmatch(spelling):
            raise TableInvalid(f"{where}: {spelling!r} is no flag")
        known = flags.get(spelling)
        # `spaced` widens what `optional` said of the same flag; anything else is a mistake.
        if known is not None and not (known.arity == "attached" and arity == "spaced"):
            raise TableInvalid(f"{where}: {spelling} is named twice")
        flags[spelling] = Flag(spelling, arity, kind)


def _operands(parts: list[str], where: str) -> Iterator[Operand]:
    for at, part in enumerate(parts):
        kind, many, optional = part, part.endswith("*"), part.endswith("?")
        if many or optional:
            kind = part[:-1]
        if many and at + 1 < len(parts):
            raise TableInvalid(f"{where}.operands: {part!r} takes all that follow")
        yield Operand(kind, optional, many)


def _table(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TableInvalid(f"{where}: a table is needed")
    return cast("dict[str, object]", value)


def _texts(value: object, where: str) -> dict[str, str]:
    return {key: _string(text, f"{where}.{key}") for key, text in _table(value, where).items()}


def _string(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise TableInvalid(f"{where}: text is needed")
    return value


def _strings(value: object, where: str) -> list[str]:
    if not isinstance(value, list):
        raise TableInvalid(f"{where}: a list is needed")
    return [_string(item, where) for item in cast("list[object]", value)]


def _split(table: Mapping[str, object], key: str, where: str) -> list[str]:
    return _string(table.get(key, ""), f"{where}.{key}").split()


def _boolean(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise TableInvalid(f"{where}: true or false is needed")
    return value


def _count(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 9:
        raise TableInvalid(f"{where}: a small number is needed")
    return value
