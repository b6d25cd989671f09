"""A simulated machine as data, and what a line comes to on it.

hosts.toml of an incident holds `[[hosts]]` tables: `name`, `address`, and optionally `jump` (the
machine it is reached through, and no other way), `user`, `description` and
`[[hosts.command]]` tables with `line` and optionally `stdout`, `stderr`, `code`, `stages` (the exit
code of each stage of a pipeline). Nothing is run: a line that is not recorded ends with exit code
127 and says so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from truepenny.demo.expand.keys import check
from truepenny.errors import ConfigurationError

SSH_PORT = 22

USER = "ops"
"""The account on every machine that names no other one."""

NOT_RECORDED = 127
"""What a shell answers for a command that it does not find."""

_ECHO = re.compile(r"echo ([A-Za-z0-9_. -]*)")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a line printed and how it ended; `stages` is empty where there was no pipeline."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    stages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine. `jump` is empty for one that is reached directly."""

    name: str
    address: str
    jump: str = ""
    user: str = USER
    description: str = ""
    answers: Mapping[str, Recorded] = field(default_factory=dict[str, Recorded])

    def answer(self, line: str) -> Recorded:
        """Return what a line comes to; how much blank there is between its words is the same."""
        words = " ".join(line.split())
        if found := self.answers.get(words):
            return found
        if words == "hostname":
            return Recorded(f"{self.name}\n")
        if echoed := _ECHO.fullmatch(words):
            return Recorded(f"{echoed[1]}\n")
        said = f"practice host {self.name} (a simulator): no recorded answer for: {line}\n"
        return Recorded(stderr=said, code=NOT_RECORDED)


def read_machines(table: Mapping[str, Any], fill: Callable[[str], str]) -> tuple[Machine, ...]:
    """Read hosts.toml; `fill` completes what is printed (times, names of pods).

    Raises ConfigurationError for unknown keys, two machines of one name or address, and a jump
    through a machine that does not stand before it in the file.
    """
    check("hosts", table, "hosts.toml")
    made: dict[str, Machine] = {}
    for entry in table.get("hosts", ()):
        check("host", entry, "hosts.toml")
        machine = Machine(
            entry["name"], entry["address"], entry.get("jump", ""), entry.get("user", USER),
            entry.get("description", ""),
            dict(_recorded(one, fill) for one in entry.get("command", ())),
        )  # fmt: skip
        where = f"hosts.toml {machine.name}"
        if machine.name in made or any(machine.address == one.address for one in made.values()):
            raise ConfigurationError("this name or address is there twice", where=where)
        if machine.jump and machine.jump not in made:
            raise ConfigurationError(
                f"its jump {machine.jump!r} is no machine before it", where=where
            )
        made[machine.name] = machine
    return tuple(made.values())


def _recorded(entry: Mapping[str, Any], fill: Callable[[str], str]) -> tuple[str, Recorded]:
    check("host command", entry, "hosts.toml")
    return " ".join(entry["line"].split()), Recorded(
        fill(entry.get("stdout", "")),
        fill(entry.get("stderr", "")),
        entry.get("code", 0),
        tuple(entry.get("stages", ())),
    )


def reply(machine: Machine, command: str) -> tuple[bytes, bytes, int]:
    """Return standard output, standard error and exit code of what an SSH client asked to run.

    Truepenny's own client wraps a line in a script and reads marks in its standard error
    (`truepenny.diagnose.host.remote_shell`); any other client sends the line itself.
    """
    token, line = _unwrapped(command)
    if token and line is None:
        # Nothing is ever left behind where nothing runs.
        return f"{token} gone 0\n".encode(), b"", 0
    found = machine.answer(command if line is None else line)
    stderr = found.stderr.encode()
    if token:
        stages = " ".join(map(str, (found.code, *found.stages)))
        told = _mark(token, f"stages {stages}") if found.stages else b""
        stderr = _mark(token, "session 0") + stderr + told + _mark(token, "bash 0")
    return found.stdout.encode(), stderr, found.code


def _mark(token: str, said: str) -> bytes:
    from truepenny.diagnose.host.remote_shell import MARK

    return MARK + f"{token} {said}".encode() + MARK


def _unwrapped(command: str) -> tuple[str, str | None]:
    """Return token and line of a wrapped line, the token alone of an ending, else nothing."""
    from truepenny.diagnose.host.remote_shell import end_words, run_words

    try:
        words = shlex.split(command)
    except ValueError:
        return "", None
    match words:
        case [*_, "truepenny", token, line, _, _, reads] if (
            run_words(token, line, reads=reads == "1") == command
        ):
            return token, line
        case [*_, "truepenny", token, session, _] if (
            session.isdecimal() and end_words(token, int(session)) == command
        ):
            return token, None
        case _:
            return "", None
