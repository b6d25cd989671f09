"""Reading the examples of the documentation: ```console blocks with `$ command` lines.

Below a command stand the lines that its output (stdout and stderr together) must contain in this
order. `...` alone stands for any lines, and within a line for any text. `# exit N` after a command
names an exit code other than 0. A block marked ```console static is not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Example:
    page: Path
    line: int
    command: str
    expected: tuple[str, ...]
    exit_code: int

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


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
            command, _, code = line[2:].partition("  # exit ")
            block.append(Example(page, number, command, (), int(code or 0)))
        elif block and line.strip() not in ("", "..."):
            last = block[-1]
            block[-1] = Example(
                last.page, last.line, last.command, (*last.expected, line), last.exit_code
            )
    return blocks


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
