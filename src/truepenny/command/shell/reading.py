"""One line, two readers, one answer: a line that they read differently is refused.

Either reader alone could be wrong about bash in a place that nobody thought of; to get a line
past both, they must be wrong in the same way (spec/diagnostics.md 3.3, spec/field.md B4).
"""

from __future__ import annotations

from truepenny.command.refusal import Refusal

from . import reader, tree
from .word import Line


def read_line(text: str) -> Line | Refusal:
    """Read a line, or refuse it. Pure; no expansion is carried out."""
    line = reader.read(text)
    if isinstance(line, Refusal):
        return line
    if tree.tokens(text) != _tokens(line):
        return Refusal(
            "disagreement",
            text[:80],
            "the line can be read in more than one way; write it more plainly, with quotes",
        )
    return line


def _tokens(line: Line) -> list[tree.Token]:
    """Return the line in the flat form of the second reading, in the order of the source."""
    found: list[tree.Token] = []
    for at, command in enumerate(line.commands):
        parts: list[tuple[int, tree.Token]] = [
            (word.start, ("w", word.canonical)) for word in (*command.assignments, *command.words)
        ]
        if command.redirections:
            parts += [
                (
                    r.target.start,
                    (r.operator, "" if r.fd is None else str(r.fd), r.target.canonical),
                )
                for r in command.redirections
            ]
            parts.sort(key=lambda part: part[0])
        found += [token for _, token in parts]
        operator = line.operators[at] if at < len(line.operators) else line.end
        if operator:
            found.append(("o", operator))
    return found
