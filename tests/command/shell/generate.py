"""Lines made of the pieces that shells are read wrongly at, from a seed."""

from __future__ import annotations

import random

PLAIN = [
    "a",
    "b",
    "-x",
    "--long=v",
    "k2,3",
    ".items",
    "x=1",
    "=y",
    "1",
    "22",
    "a.b/c",
    "+%F",
    "%",
    "@x",
    "^y",
    "z:",
    ",",
    "-",
    "--",
    "]",
    "}x",
    "x}",
    "#x",
]
QUOTED = [
    "'c d'",
    '"e f"',
    "''",
    '""',
    "'a\\'",
    '"a\\"b"',
    '"a\\\\"',
    '"\\$x"',
    '"\\`"',
    '"a\\nb"',
    '"it\'s"',
    "'\"'",
    "$'a\\tb'",
    "$'\\''",
    "$'\\x41\\102\\u43'",
    "$'\\q\\e'",
    "$'\\\\'",
    "\\a",
    "\\ ",
    "\\\\",
    "\\'",
    '\\"',
    "\\$x",
    "\\;",
    "\\|",
    "\\*",
    "'$x'",
    "'`'",
    "'$(x)'",
    "'*'",
    '"*"',
    '"~"',
    "'{a,b}'",
    "a$",
    '"$"',
    "$",
    "'é'",
    "'a;b|c&d'",
    '"a>b<c"',
    "'#'",
    '"!"',
    "a#b",
    "!",
    "$$'x'",
    "\\$'x'",
    "'a''b'",
    "\"a\"b'c'",
]
EXPANDING = ["*", "[ab]", "~", "~/x", "a=~", "{a,b}", "x{1..2}y", "$x", '"$x"', "${x}", "?", "{}"]
BROKEN = ["'", '"', "\\", "`", "$(", "(", ")", "<<x", "$'", "${", "{", "}", "#", "<(", ";;", "\n"]
REDIRECTIONS = [
    ">/dev/null",
    "2>/dev/null",
    "2>&1",
    "&>/dev/null",
    ">>/dev/null",
    "1>&2",
    "> /dev/null",
    "</dev/null",
    "2>&-",
    "a2>/dev/null",
    "2 >/dev/null",
    "'2'>/dev/null",
]
OPERATORS = [" | ", "|", " && ", "&&", " || ", "||", "; ", ";", " & ", "&", " |& ", "\t|\t"]
PROGRAMS = ["p", "q", "'p'", "\\q", '"p"', "p''", "A=1 p", "A='x y' B= q", "time", "if", "!"]


def line(rng: random.Random) -> str:
    """One line; most of them can be read."""
    parts: list[str] = []
    for at in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if at:
            parts.append(rng.choice(OPERATORS))
        parts.append(rng.choice(PROGRAMS[:8] if rng.random() < 0.97 else PROGRAMS))
        for _ in range(rng.randrange(6)):
            parts.append(rng.choice((" ", " ", " ", "  ", "\t")))
            parts.append(word(rng))
            if rng.random() < 0.08:
                parts.append(" " + rng.choice(REDIRECTIONS))
    if rng.random() < 0.08:
        parts.append(rng.choice((";", " &", " ;", "  ")))
    return "".join(parts)


def word(rng: random.Random) -> str:
    kinds = (PLAIN, QUOTED, EXPANDING, BROKEN)
    weights = (10, 12, 1, 0.25)
    count = rng.choice((1, 1, 1, 2, 2, 3))
    return "".join(rng.choice(rng.choices(kinds, weights)[0]) for _ in range(count))
