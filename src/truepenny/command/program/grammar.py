"""What a program may be given, as data: flags with their arity, operands, subcommands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Context = Literal["local", "node", "pod", "host"]
CONTEXTS: tuple[Context, ...] = ("local", "node", "pod", "host")
"""Where a line runs: the agent's own machine, a node, a container, an SSH host (3.4)."""

Style = Literal["gnu", "whole", "free"]
"""How flags are written: `gnu` joins short ones (`-ab`) and spells long ones with two dashes;
`whole` reads each token as one flag (`-name`); `free` has none, every word is text."""

Arity = Literal["none", "one", "two", "attached", "spaced"]
"""`attached` values are optional and glued; `spaced` ones may also be the next token."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One allowed spelling of a flag. `kind` is that of its value (see `value`)."""

    name: str
    arity: Arity = "none"
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Operand:
    """One place for a word that is no flag; `many` takes all that follow."""

    kind: str
    optional: bool = False
    many: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """The arguments of a program or of one of its subcommands. What is not named is refused.

    `required` maps a set of spellings, one of which must be there, to what a hint adds. `why`
    maps refused spellings to their reason. `feeds` is False where the output may not reach a pipe.
    `expression` counts the leading operands that are no files, none once one of
    `expression_flags` gave it. `names` says that the output has names and sizes, no content.
    """

    style: Style = "gnu"
    flags: Mapping[str, Flag] = field(default_factory=dict[str, Flag])
    operands: tuple[Operand, ...] = ()
    subcommands: Mapping[str, Grammar] = field(default_factory=dict[str, "Grammar"])
    bare: bool = False
    number: bool = False
    required: Mapping[frozenset[str], str] = field(default_factory=dict[frozenset[str], str])
    why: Mapping[str, str] = field(default_factory=dict[str, str])
    feeds: bool = True
    expression: int = 0
    expression_flags: frozenset[str] = frozenset()
    names: bool = False
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A program by the name that is typed."""

    name: str
    family: str
    contexts: frozenset[str]
    grammar: Grammar
