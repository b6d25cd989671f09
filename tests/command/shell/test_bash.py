"""Both readings against bash itself: what we say a line means is what bash does with it."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from truepenny.command.shell import Line, SimpleCommand, read_line

from .generate import line as generated

PROGRAM = r"""
p() { printf '%s\0' p "$@" $'\1' >&9; return 0; }
q() { printf '%s\0' q "$@" $'\1' >&9; return 1; }
while IFS= read -r -d '' line; do
  printf '%s\0' $'\2' >&9
  eval "$line"
  wait
done 9>&1 >/dev/null 2>&1 </dev/fd/8
"""
"""Reads lines ended by NUL and evaluates each as `bash -c` would. `p` succeeds and `q` fails; each
writes its arguments to the true output, ended by \\1; a line begins with \\2."""


def bash(lines: Sequence[str], directory: Path) -> list[list[tuple[str, ...]]]:
    """What bash runs for each line, in the order it ran."""
    given = directory / "lines"
    given.write_bytes(b"".join(line.encode() + b"\0" for line in lines))
    empty = directory / "empty"
    empty.mkdir()
    with given.open("rb") as source:
        done = subprocess.run(
            ["bash", "-c", f"exec 8<&0 </dev/null\n{PROGRAM}"],
            stdin=source,
            capture_output=True,
            check=True,
            cwd=empty,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            timeout=120,
        )
    ran: list[list[tuple[str, ...]]] = []
    current: list[str] = []
    for token in done.stdout.decode().split("\0")[:-1]:
        if token == "\2":
            ran.append([])
        elif token == "\1":
            ran[-1].append(tuple(current))
            current = []
        else:
            current.append(token)
    assert len(ran) == len(lines)
    return ran


def expected(line: Line) -> list[tuple[str, ...]]:
    """Which commands run by our reading, where `p` succeeds and `q` fails."""
    ran: list[tuple[str, ...]] = []
    status, at = 0, 0
    operators = ("", *line.operators)
    while at < len(line.commands):
        stages: list[SimpleCommand] = [line.commands[at]]
        joined = operators[at]
        while at + 1 < len(line.commands) and operators[at + 1] in ("|", "|&"):
            at += 1
            stages.append(line.commands[at])
        at += 1
        if (joined == "&&" and status) or (joined == "||" and not status):
            continue
        ran += [stage.argv for stage in stages]
        status = 1 if stages[-1].argv[0] == "q" else 0
        if at < len(line.commands) and operators[at] == "&":
            status = 0
    return ran


def literal(line: Line) -> bool:
    return all(
        command.literal
        and command.argv[:1] in (("p",), ("q",))
        and all(r.target.text in ("/dev/null", "-", "1", "2") for r in command.redirections)
        and not any(r.operator in ("<", "<&") or r.target.text == "-" for r in command.redirections)
        for command in line.commands
    )


def simple_background(line: Line) -> bool:
    """`a && b & c`: the whole list before `&` goes to the background, with a status of its own."""
    return "&" not in (*line.operators[:-1], line.end) or not {"&&", "||"} & {*line.operators}


def compare(seed: int, count: int, directory: Path) -> int:
    rng = random.Random(seed)
    lines: list[Line] = []
    while len(lines) < count:
        read = read_line(generated(rng))
        if isinstance(read, Line) and literal(read) and simple_background(read):
            lines.append(read)
    for line, ran in zip(lines, bash([line.text for line in lines], directory), strict=True):
        assert sorted(ran) == sorted(expected(line)), line.text
    return len(lines)


def test_bash_runs_what_we_read(tmp_path: Path) -> None:
    assert compare(seed=4, count=4_000, directory=tmp_path) == 4_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_bash_runs_what_we_read_at_length(seed: int, tmp_path: Path) -> None:
    compare(seed=seed, count=25_000, directory=tmp_path)


def test_lines_are_refused_for_a_reason_that_bash_shares(tmp_path: Path) -> None:
    """A line that bash cannot parse is never accepted."""
    rng = random.Random(9)
    lines = [generated(rng) for _ in range(3000)]
    lines = [line for line in lines if isinstance(read_line(line), Line)]
    script = tmp_path / "check"
    script.write_bytes(b"".join(line.encode() + b"\0" for line in lines))
    loop = "while IFS= read -r -d '' line; do eval \"f() { $line\n}\" || exit 1; done"
    with script.open("rb") as source:
        done = subprocess.run(
            ["bash", "-c", loop], stdin=source, capture_output=True, check=False, timeout=60
        )
    assert done.returncode == 0, done.stderr
    assert len(lines) > 1000
