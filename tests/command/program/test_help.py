"""The arity of flags in the tables against what the installed programs say of themselves."""

from __future__ import annotations

import re
import subprocess

import pytest

from truepenny.command.program.load import programs

COREUTILS = [
    *(
        "sort",
        "uniq",
        "wc",
        "head",
        "tail",
        "cut",
        "tr",
        "tac",
        "nl",
        "cat",
        "ls",
        "stat",
        "readlink",
    ),
    *(
        "realpath",
        "basename",
        "dirname",
        "md5sum",
        "sha256sum",
        "df",
        "du",
        "nproc",
        "uname",
        "date",
    ),
    *("id", "tee", "od", "grep", "whoami"),
]
"""Programs of every Linux that tests run on, whose help has one form."""

_LONG = re.compile(r"(?:^|[\s,])--([a-z][a-z0-9-]*)(\[=|=|)")


@pytest.mark.parametrize("name", COREUTILS)
def test_the_table_takes_values_where_the_program_does(name: str) -> None:
    done = subprocess.run(
        [name, "--help"],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        timeout=30,
    )
    theirs: dict[str, str] = {}
    for line in done.stdout.splitlines():
        if re.match(r"\s+-", line):
            head = re.split(r"(?<=\S)\s{2,}", line.strip(), maxsplit=1)[0]
            for long, form in _LONG.findall(head):
                arity = {"": "none", "=": "one", "[=": "attached"}[form]
                # Shown once bare and once with a value: the value is optional.
                twice = theirs.get(f"--{long}", arity) != arity
                theirs[f"--{long}"] = "attached" if twice else arity
    assert "--help" in theirs
    ours = {f.name: f.arity for f in programs()[name].grammar.flags.values()}
    both = ours.keys() & theirs.keys()
    assert {flag: ours[flag] for flag in both} == {flag: theirs[flag] for flag in both}
    assert len(both) >= 2
