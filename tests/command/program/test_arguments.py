"""One pass over every argument: nothing after an allowed word goes unexamined."""

from __future__ import annotations

import random

import pytest

from tests.command.corpus.generate import lines
from truepenny.command.check import Admitted, check
from truepenny.command.program.arguments import Fault, read
from truepenny.command.program.load import programs
from truepenny.command.shell import Line, Word, read_line
from truepenny.command.shell.word import SimpleCommand

FREE = {"echo", "printf", "test", "expr", "seq"}
"""Programs whose every argument is text."""


def words(text: str) -> tuple[Word, ...]:
    line = read_line(text)
    assert isinstance(line, Line)
    return line.commands[0].words


def parsed(text: str) -> tuple[list[tuple[str, str | None]], list[str]]:
    name, *rest = words(text)
    arguments = read(rest, programs()[name.text].grammar)
    return arguments.flags, [word.text for word in arguments.operands]


@pytest.mark.parametrize(
    ("text", "flags", "operands"),
    [
        ("sort -rnk2 x", [("-r", None), ("-n", None), ("-k", "2")], ["x"]),
        ("sort -k 2,3 -t, x", [("-k", "2,3"), ("-t", ",")], ["x"]),
        ("sort x -r", [("-r", None)], ["x"]),
        ("sort --key=2 --reverse -- -x", [("--key", "2"), ("--reverse", None)], None),
        ("grep -ie. x", [("-i", None), ("-e", ".")], ["x"]),
        ("grep -e -f x", [("-e", "-f")], ["x"]),
        ("grep -A5 a", [("-A", "5")], ["a"]),
        ("head -20 x", [], ["x"]),
        ("journalctl -b -1 -n 5", [("-b", "-1"), ("-n", "5")], []),
        ("journalctl -n5", [("-n", "5")], []),
        ("iptables -L INPUT -n", [("-L", "INPUT"), ("-n", None)], []),
        ("ip -br addr show dev eth0", [("-br", None)], ["dev", "eth0"]),
        ("jq --arg a -b . -", [("--arg", "a"), ("--arg", "-b")], [".", "-"]),
        ("lsof +D /x", [("+D", "/x")], []),
        ("date +%s", [], ["+%s"]),
        ("find / -name -x -type f", [("-name", "-x"), ("-type", "f")], ["/"]),
    ],
)
def test_arguments_are_read_as_the_program_reads_them(
    text: str, flags: list[tuple[str, str | None]], operands: list[str] | None
) -> None:
    if operands is None:
        with pytest.raises(Fault):
            parsed(text)
        return
    assert parsed(text) == (flags, operands)


def simple(line: str) -> SimpleCommand | None:
    read = read_line(line)
    return read.commands[0] if isinstance(read, Line) and len(read.commands) == 1 else None


@pytest.mark.parametrize("smuggled", ["--zz-unknown", "-@", "--zz=/x"])
def test_a_flag_that_no_table_has_is_seen_wherever_it_stands(smuggled: str) -> None:
    seen = 0
    for line in lines("node_lines.txt"):
        command = simple(line)
        if (
            command is None
            or command.argv[0] in FREE
            or "--" in command.argv
            or not command.literal
        ):
            continue
        flags = programs()[command.argv[0]].grammar.flags
        for at in range(1, len(command.words) + 1):
            before = command.argv[at - 1]
            raw = [word.raw for word in command.words]
            taken = flags.get(before) or flags.get(f"-{before[-1]}")
            if taken is not None and taken.kind == "pattern":
                continue
            raw.insert(at, smuggled)
            assert not isinstance(check(" ".join(raw), "node"), Admitted), raw
            seen += 1
    assert seen > 1000


def test_a_word_more_is_an_operand_that_the_grammar_counts() -> None:
    """Programs without room for it refuse; the others take it as what it is, and never a flag."""
    rng = random.Random(8)
    for name, program in sorted(programs().items()):
        grammar = program.grammar
        if grammar.subcommands or grammar.style == "free" or grammar.operands[-1:]:
            continue
        extra = rng.choice(("x", "/x", "0"))
        with pytest.raises(Fault):
            read(words(f"{name} {extra}")[1:], grammar)
