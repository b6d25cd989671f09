"""Brace expansion against bash."""

from __future__ import annotations

import random
import subprocess

import pytest

from truepenny.command.shell import Line, Word, read_line
from truepenny.command.shell.brace import MAX_WORDS, expand
from truepenny.command.shell.word import BRACE

PARTS = [
    "a",
    "b.c",
    "/",
    "{",
    "}",
    ",",
    "{a,b}",
    "{1..3}",
    "{3..1}",
    "{,x}",
    "'{'",
    "','",
    "{'a,b',c}",
]


def word(text: str) -> Word | None:
    read = read_line(f"p {text}")
    return read.commands[0].words[1] if isinstance(read, Line) and len(read.commands) == 1 else None


def test_braces_expand_as_bash_expands_them() -> None:
    rng = random.Random(5)
    ours: list[tuple[str, list[str]]] = []
    while len(ours) < 3000:
        text = "".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 7)))
        read = word(text)
        if read is None or BRACE not in read.expands:
            continue
        found = expand(read)
        if found is not None and all(w.text for w in found):
            ours.append((text, [w.text for w in found]))
    script = "\n".join(f"printf '%s\\0' {text}; printf '\\1\\0'" for text, _ in ours)
    done = subprocess.run(
        ["bash"], input=script.encode(), capture_output=True, check=True, timeout=60
    )
    theirs = [part.split("\0")[:-1] for part in done.stdout.decode().split("\1\0")[:-1]]
    for (text, words), bash in zip(ours, theirs, strict=True):
        assert words == bash, text


@pytest.mark.parametrize(
    "text", ["{a,{b,c}", "{1..9999}", '{a,"$x"}', "{a..z}", "{01..10}", "{1..9..2}"]
)
def test_what_is_not_certain_is_not_expanded(text: str) -> None:
    read = word(text)
    assert read is not None
    assert expand(read) is None


def test_the_number_of_words_is_bounded() -> None:
    read = word("{a,b}" * 7)
    assert read is not None
    assert MAX_WORDS < 2**7
    assert expand(read) is None
