"""Reading the examples of the documentation: ```console blocks with `$ command` lines.

Below a command stand the lines that its output (stdout and stderr together) must contain in this
order. `...` alone stands for any lines, and within a line for any text. `# exit N` after a command
names an exit code other than 0. Lines with `>` right below a command continue it, as in a shell.

A command that ends in ` &` serves until its block ends; its lines must come before the next command
runs. `$ export NAME=...` takes the value that the block's output printed last as `export NAME=`:
what a person would paste. A block marked ```console static is not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_EXIT = re.compile(r"  # exit (?P<code>\d+)$")
_PASTED = re.compile(r"export (?P<name>\w+)=\.\.\.")


@dataclass(frozen=True)
class Example:
    page: Path
    line: int
    command: str
    expected: tuple[str, ...] = ()
    exit_code: int = 0

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def serves(self) -> bool:
        """Whether it goes on until the block ends."""
        return self.command.endswith(" &")

    @property
    def pasted(self) -> str:
        """The variable whose value is taken from what was printed before; empty for none."""
        found = _PASTED.fullmatch(self.command)
        return found["name"] if found else ""


def examples(page: Path) -> list[list[Example]]:
    """Return the page's blocks; the commands of one block share a home and run in order."""
    blocks: list[list[Example]] = []
    block: list[Example] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if block is None:
            if line.strip() == "```console":
                block = []
        elif line.startswith("```"):
            blocks.append(block)
            block = None
        elif line.startswith("$ "):
            block.append(_command(page, number, line[2:]))
        elif block:
            last = block[-1]
            if line.startswith(">") and not last.expected:
                block[-1] = replace(last, command=f"{last.command}\n{line[2:]}")
            elif line.strip() not in ("", "..."):
                block[-1] = replace(last, expected=(*last.expected, line))
    return blocks


def _command(page: Path, number: int, written: str) -> Example:
    found = _EXIT.search(written)
    if not found:
        return Example(page, number, written)
    return Example(page, number, written[: found.start()], exit_code=int(found["code"]))


def missing(expected: tuple[str, ...], output: str) -> str | None:
    """Return the first expected line that does not come, in order; None if all do."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    at = 0
    for wanted in expected:
        parts = (re.escape(part) for part in " ".join(wanted.split()).split("..."))
        pattern = re.compile(".*".join(parts))
        while at < len(lines) and not pattern.search(lines[at]):
            at += 1
        if at == len(lines):
            return wanted
        at += 1
    return None
