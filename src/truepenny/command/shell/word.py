"""The parts of a shell line as bash sees them, after quote removal and before any expansion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

GLOB, BRACE, TILDE, PARAMETER = "glob", "brace", "tilde", "parameter"
"""What bash may do with an unquoted part of a word (and, for a parameter, with a quoted one)."""

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of one word. `parameter` means `text` is a name, not characters."""

    text: str
    quoted: bool = False
    parameter: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `text` is its value when `literal`; otherwise parameters stand in it as `$name`.

    `raw` is the source, `start` its offset in the line.
    """

    raw: str
    text: str
    pieces: tuple[Piece, ...]
    expands: frozenset[str] = NOTHING
    start: int = 0

    @property
    def literal(self) -> bool:
        """Whether bash hands on exactly `text`."""
        return not self.expands

    @property
    def canonical(self) -> str:
        """The value with parameters marked by NUL, which no line can contain."""
        if PARAMETER not in self.expands:
            return self.text
        return "".join(f"\0{p.text}\0" if p.parameter else p.text for p in self.pieces)


@dataclass(frozen=True, slots=True)
class Redirection:
    """`fd` is None where the line names none; `operator` is as written (`>`, `>>`, `>&`, `&>`)."""

    operator: str
    target: Word
    fd: int | None = None


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its words. `assignments` are the `NAME=value` words in front."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def argv(self) -> tuple[str, ...]:
        """The values of the words; exact only where each word is literal."""
        return tuple(word.text for word in self.words)

    @property
    def literal(self) -> bool:
        """Whether nothing in the command expands."""
        return all(word.literal for word in (*self.assignments, *self.words))


@dataclass(frozen=True, slots=True)
class Line:
    """Simple commands in order; `operators[i]` stands between command i and i+1.

    `end` is the operator after the last command: empty, `;` or `&`.
    """

    text: str
    commands: tuple[SimpleCommand, ...]
    operators: tuple[str, ...] = ()
    end: str = ""

    def pipelines(self) -> Iterator[tuple[SimpleCommand, ...]]:
        """Yield the commands of each pipeline."""
        stages: list[SimpleCommand] = []
        for at, command in enumerate(self.commands):
            if at and self.operators[at - 1] not in ("|", "|&"):
                yield tuple(stages)
                stages = []
            stages.append(command)
        if stages:
            yield tuple(stages)
