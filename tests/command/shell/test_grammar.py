"""No text ends our process: the grammar runs in another one here, which must live through it."""

from __future__ import annotations

import subprocess
import sys

from truepenny.command.shell.grammar import parse

CRASHERS = """
import random
from truepenny.command.shell.grammar import parse
chance = random.Random(7)
parts = ["<<", "<<-", "EOF", "\\n", "'", '"', "$(", "`", "${", "}", "[[", "]]", "(", ")", ";", "|"]
for _ in range(20_000):
    line = "".join(
        chance.choice(parts) if chance.random() < 0.7 else chr(chance.randint(0x80, 0x10FFFF))
        for _ in range(chance.randint(1, 60))
    )
    parse(line.encode("utf-8", "surrogatepass")).root_node.has_error
print("alive")
"""


def test_characters_beyond_ascii_end_no_process() -> None:
    done = subprocess.run([sys.executable, "-c", CRASHERS], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"alive\n"), done.stderr.decode()


def test_places_are_those_of_the_source() -> None:
    source = "echo 'grüße' | cat".encode()
    root = parse(source).root_node
    (pipeline,) = root.children
    echo, _, cat = pipeline.children
    assert source[echo.start_byte : echo.end_byte] == "echo 'grüße'".encode()
    assert source[cat.start_byte : cat.end_byte] == b"cat"
