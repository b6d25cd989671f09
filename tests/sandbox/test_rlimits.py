from __future__ import annotations

import errno
import resource
import subprocess
from pathlib import Path

import pytest

from truepenny.sandbox.placement import place
from truepenny.sandbox.plan import ResourceLimits
from truepenny.sandbox.rlimits import rlimit_words

MEBIBYTE = 1024 * 1024


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    both = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: both)


def pairs(words: tuple[str, ...]) -> dict[str, int]:
    return {words[at]: int(words[at + 1]) for at in range(0, len(words), 2)}


@pytest.mark.usefixtures("unlimited")
def test_a_group_holds_memory_and_processes_so_they_are_not_set_again() -> None:
    limits = ResourceLimits(memory=64 * MEBIBYTE, processes=9, open_files=100, file_size=2048)
    assert pairs(rlimit_words(limits, grouped=True)) == {"-c": 0, "-n": 100, "-f": 4}


@pytest.mark.usefixtures("unlimited")
def test_without_a_group_each_process_is_limited() -> None:
    limits = ResourceLimits(memory=64 * MEBIBYTE, processes=9, open_files=None)
    found = pairs(rlimit_words(limits, grouped=False))
    assert found == {"-c": 0, "-d": 64 * 1024, "-u": 9}


@pytest.mark.usefixtures("unlimited")
def test_no_limit_is_no_word() -> None:
    limits = ResourceLimits(memory=None, processes=None, cpu=None, open_files=None)
    assert pairs(rlimit_words(limits, grouped=False)) == {"-c": 0}


def test_nothing_is_above_what_holds_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (10, 10 * MEBIBYTE))
    limits = ResourceLimits(memory=64 * MEBIBYTE, processes=10**9, open_files=10**9)
    found = pairs(rlimit_words(limits, grouped=False))
    assert found == {"-c": 0, "-n": 10 * MEBIBYTE, "-d": 10 * 1024, "-u": 10 * MEBIBYTE}


HOLDING = """
import mmap
try:
    b"x" * (256 << 20)
except MemoryError:
    print("no memory")
reserved = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
print("addresses")
try:
    with open(__import__("sys").argv[1], "wb") as file:
        file.write(b"x" * 9000)
except OSError as error:
    print(error.errno)
"""


def test_a_process_meets_them(tmp_path: Path) -> None:
    limits = ResourceLimits(memory=128 * MEBIBYTE, processes=None, file_size=8192)
    words = place((), rlimit_words(limits, grouped=False)).words
    done = subprocess.run(
        [*words, "/usr/bin/python3", "-c", HOLDING, str(tmp_path / "file")],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split("\n") == ["no memory", "addresses", str(errno.EFBIG), ""]
