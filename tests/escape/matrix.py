"""The tables of docs/escapes.md, from the attempts: `python -m tests.escape.matrix` prints them."""

from __future__ import annotations

from collections.abc import Iterator

from .attempt import ACCOUNTS, LEVELS, Attempt, families

HEAD = "| attempt | " + " | ".join(LEVELS) + " |"
RULE = "|---|" + "---|" * len(LEVELS)
WORDS = {"refused": "not run", "allowed": "works"}
PREFIXES = {"gap": "**{}**", "depends": "depends: {}", "may": "may: {}"}


def tables() -> Iterator[str]:
    """Yield the lines: for each family its title and a table."""
    for family in families():
        yield f"## {family.title}"
        yield ""
        yield HEAD
        yield RULE
        for attempt in family.attempts:
            cells = " | ".join(_cell(attempt, level) for level in LEVELS)
            yield f"| {attempt.title} | {cells} |"
        yield ""


def _cell(attempt: Attempt, level: str) -> str:
    cells = {account: _words(attempt.cell(level, account)) for account in ACCOUNTS}
    if len(set(cells.values())) == 1:
        return cells["user"]
    return f"{cells['user']}; as root: {cells['root']}"


def _words(cell: str) -> str:
    kind, _, word = cell.partition(":")
    return PREFIXES[kind].format(f"`{word}`") if word else WORDS.get(cell, cell)


if __name__ == "__main__":
    print("\n".join(tables()), end="")
