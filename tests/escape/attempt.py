"""The attempts as data: what each one tries, and what must come of it at each level.

A file of `attempts/` is one family. An attempt is a program (`bash` or `python`), what its success
would be (exactly one of the words of `SUCCESSES`), and its expected cells:

- `stopped`: it has no success, and nothing else is said;
- `gap:WORD`: it succeeds, and the result of the run names WORD of `truepenny.sandbox.gap`;
- `depends:WORD`: it succeeds exactly where the result names WORD (kernel, version, control group);
- `may:WORD`: it may succeed, by luck or by a setting of the kernel, where the result names WORD;
- `refused`: the level does not run it at all with such settings;
- `allowed`: the plan means it to work, and it does, which shows that the others could.

`bwrap` and `landlock` are `stopped` unless written; a table `{root = ..., user = ...}` tells root
that drops from an ordinary user. Where an attempt is stopped at the level `none` too, `control`
names the run that shows it alive: `bare` (a plain process of the account, with our descriptors and
variables), `root` (the same as root), `host` (level `none` with the machine's network); or
`no_control` says why there is none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "attempts"
LEVELS = ("bwrap", "landlock", "none")
ACCOUNTS = ("root", "user")
SUCCESSES = (
    "stolen",  # a secret of that name is in the output
    "said",  # the program says so, by a word that it only reaches behind what it tried
    "reached",  # a listener of that kind got this run's own number
    "changed",  # a file of the scene has other content, mode or owner, or is gone
    "created",  # a file is there that nobody but the attempt makes
    "victim",  # a process outside is `gone`, `niced`, `limited`, `bound` or `offered`
    "left",  # a process is alive after the run
    "later",  # a person's command, run afterwards, starts what the attempt planted
    "setuid",  # a program in the workspace gives others the account's rights
    "setgid",  # the same for the account's group
)
CONTROLS = ("bare", "root", "host")
WORDS = ("stopped", "refused", "allowed")
PREFIXES = ("gap", "depends", "may")


@dataclass(frozen=True)
class Attempt:
    """One attempt. `plant` are files in the workspace before it, `before` a program that runs in
    the same workspace meanwhile, `rounds` how often it is tried.
    `needs` is what must be there for it (`tests.escape.machine.has`)."""

    id: str
    family: str
    title: str
    program: str
    python: bool
    success: str
    what: str
    cells: Mapping[str, Mapping[str, str]]
    control: str = ""
    no_control: str = ""
    network: str = "none"
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plant: Mapping[str, str] = field(default_factory=dict[str, str])
    before: str = ""
    rounds: int = 1
    cwd: str = "."
    needs: str = ""

    def cell(self, level: str, account: str) -> str:
        """Return what is expected of it at a level."""
        return self.cells[level][account]

    def controls(self, account: str) -> str:
        """Return the run that shows it alive: `none` is the one at that level."""
        cell = self.cell("none", account)
        alive = cell.partition(":")[0] == "gap"
        return "none" if alive else self.control


@dataclass(frozen=True)
class Family:
    """Attempts of one kind, with a title for people."""

    name: str
    title: str
    attempts: tuple[Attempt, ...]


@cache
def families() -> tuple[Family, ...]:
    """Return all of them, in the order of their files."""
    return tuple(_family(path) for path in sorted(FOLDER.glob("*.toml")))


def attempts() -> Iterator[Attempt]:
    """Yield every attempt."""
    for family in families():
        yield from family.attempts


def _family(path: Path) -> Family:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    name = path.stem.partition("-")[2]
    found = tuple(_attempt(name, one) for one in data.pop("attempt"))
    title = data.pop("title")
    if data:
        raise ValueError(f"{path.name}: unknown keys {sorted(data)}")
    return Family(name, title, found)


def _attempt(family: str, data: dict[str, Any]) -> Attempt:
    id = data.pop("id")
    python = "python" in data
    program = data.pop("python" if python else "bash")
    success = [word for word in SUCCESSES if word in data]
    if len(success) != 1:
        raise ValueError(f"{id}: one success, not {success}")
    what = data.pop(success[0])
    cells = {level: _cell(id, data.pop(level, "stopped")) for level in LEVELS}
    made = Attempt(
        id=id,
        family=family,
        title=data.pop("title"),
        program=program,
        python=python,
        success=success[0],
        what=what if isinstance(what, str) else "",
        cells=cells,
        **data,
    )
    if made.control and made.control not in CONTROLS:
        raise ValueError(f"{id}: no control {made.control}")
    return made


def _cell(id: str, value: str | dict[str, str]) -> Mapping[str, str]:
    cell = dict.fromkeys(ACCOUNTS, value) if isinstance(value, str) else value
    if set(cell) != set(ACCOUNTS):
        raise ValueError(f"{id}: a cell names {ACCOUNTS}")
    for one in cell.values():
        if one not in WORDS and one.partition(":")[0] not in PREFIXES:
            raise ValueError(f"{id}: no such cell: {one}")
    return cell
