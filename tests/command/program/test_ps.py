"""ps never shows an environment: tried with the real one, in both of its dialects."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from truepenny.command.check import Admitted, check
from truepenny.command.refusal import Refusal

MARK = "TRUEPENNY_SHOWN=never"
LETTERS = "AacdefFgGHjlLmMNoOpPqsStTuUVwxyZnrvhk"


@pytest.fixture
def bearer() -> Iterator[int]:
    """A process with something in its environment."""
    name, _, value = MARK.partition("=")
    child = subprocess.Popen(["sleep", "600"], env={**os.environ, name: value})
    yield child.pid
    child.kill()
    child.wait()


def shown(line: str) -> bool:
    done = subprocess.run(
        line.split(),
        capture_output=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "9000"},
        timeout=30,
    )
    return MARK.encode() in done.stdout


def accepted(line: str) -> bool:
    return isinstance(check(line, "node"), Admitted)


def tried(lines: list[str], count: int) -> int:
    passing = [line for line in lines if accepted(line)]
    chosen = random.Random(6).sample(passing, min(count, len(passing)))
    assert [line for line in chosen if shown(line)] == []
    return len(chosen)


def clusters(pid: int, longest: int) -> list[str]:
    tails = ("", f" {pid}", " x", " -u user", " -x", f" -p {pid}", " -o pid,args", " -C we", " -ww")
    return [
        f"ps {dash}{''.join(letters)}{tail}"
        for size in range(1, longest + 1)
        for letters in itertools.product(LETTERS, repeat=size)
        for dash in ("-", "")
        for tail in (tails if size < 3 else tails[:1])
    ]


def test_no_cluster_of_two_letters_shows_an_environment(bearer: int) -> None:
    if shutil.which("ps") is None:
        assert not os.path.exists("/bin/ps")
        return
    assert shown(f"ps e {bearer}") or shown(f"ps eww {bearer}"), "the fixture shows nothing"
    risky = [line for line in clusters(bearer, 2) if "e" in line.removeprefix("ps ")]
    assert tried(risky, 90) == 90


@pytest.mark.slow
def test_no_cluster_of_three_letters_shows_an_environment(bearer: int) -> None:
    assert tried([line for line in clusters(bearer, 3) if "e" in line[3:]], 4000) > 1000


@pytest.mark.parametrize(
    "line",
    ["ps -ex", "ps -axe", "ps -eHT", "ps -e -x", "ps -H -T -e", "ps x -e", "ps -e x", "ps ex"],
)
def test_flags_that_ps_reads_again_are_refused(line: str) -> None:
    found = check(line, "node")
    assert isinstance(found, Refusal)
    assert found.rejected_by == "flag"
    assert found.hint == "ps aux"


@pytest.mark.parametrize(
    "line",
    [
        *("ps", "ps aux", "ps -ef", "ps -eLf", "ps auxf", "ps -aux", "ps axo pid,comm", "ps 1"),
        *("ps -eo pid,etime,args --sort=-etime", "ps -ely", "ps -efH", "ps -u root", "ps -p 1,2"),
        *(
            "ps -u kube -o pid,args",
            "ps -C kubelet -o pid=",
            "ps -T -p 12",
            "ps -e -o pid",
            "ps axjf",
        ),
        *("ps --no-headers -eo comm", "ps -Af", "ps faux", "ps auxww --sort -rss", "ps -fp 1"),
    ],
)
def test_what_people_type_passes(line: str) -> None:
    assert accepted(line)
