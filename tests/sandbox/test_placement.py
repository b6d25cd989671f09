from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from truepenny.sandbox.confinement import NotStarted, Refused
from truepenny.sandbox.placement import FAILED, Placement, place
from truepenny.text.redact import Redactor

ENV = {"PATH": "/usr/bin:/bin"}


def run(
    placement: Placement, *argv: str, descriptors: tuple[int, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*placement.words, *argv],
        env=ENV,
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def opened(path: Path, least: int) -> int:
    """Open a file for writing under a number that is not below `least`."""
    first = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    found = fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, least)
    os.close(first)
    return found


@pytest.mark.parametrize("least", [10, 250])
def test_it_writes_to_every_descriptor_and_closes_it(tmp_path: Path, least: int) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    numbers = tuple(opened(path, least) for path in files)
    placement = place(numbers)
    done = run(placement, "ls", "/proc/self/fd", descriptors=numbers)
    for number, path in zip(numbers, files, strict=True):
        os.close(number)
        assert path.read_text(encoding="ascii") == "0\n"
    assert done.stdout.split() == ["0", "1", "2", "3"]
    assert placement.verdict(done.returncode, done.stderr) is None


def test_it_joins_by_name_with_the_plain_shell_and_nothing_open(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two of them"]
    for path in files:
        path.touch()
    placement = place([str(path) for path in files])
    done = run(placement, "ls", "/proc/self/fd")
    assert placement.words[0] == "/bin/sh"
    assert [path.read_text(encoding="ascii") for path in files] == ["0\n", "0\n"]
    assert done.stdout.split() == ["0", "1", "2", "3"]
    refused = run(place([str(tmp_path)]), "echo", "ran")
    assert (refused.returncode, refused.stdout) == (FAILED, "")
    assert "cannot be joined" in refused.stderr


def test_one_digit_is_enough_for_the_plain_shell() -> None:
    assert place((3,)).words[0] == "/bin/sh"
    assert place(()).words[0] == "/bin/sh"


def test_what_cannot_be_joined_stops_the_start(tmp_path: Path) -> None:
    path = tmp_path / "procs"
    path.touch()
    reading = os.open(path, os.O_RDONLY)
    placement = place((reading,))
    done = run(placement, "echo", "started", descriptors=(reading,))
    os.close(reading)
    assert done.returncode == FAILED
    assert done.stdout == ""
    found = placement.verdict(done.returncode, done.stderr)
    assert found is not None
    assert found.why is Refused.SANDBOX


def test_a_limit_that_is_refused_stops_the_start() -> None:
    placement = place((), ("-n", "999999999999"))
    done = run(placement, "echo", "started")
    assert done.stdout == ""
    found = placement.verdict(done.returncode, done.stderr)
    assert found is not None
    assert found.why is Refused.SANDBOX
    assert "truepenny-start" not in found.message


def test_limits_are_set(tmp_path: Path) -> None:
    placement = place((), ("-c", "0", "-n", "77", "-f", "8", "-d", "4000000", "-u", "9000"))
    limits = run(placement, "cat", "/proc/self/limits").stdout
    rows = {line[:26].strip(): line[26:].split()[:2] for line in limits.splitlines()}
    assert rows["Max core file size"] == ["0", "0"]
    assert rows["Max open files"] == ["77", "77"]
    assert rows["Max file size"] == ["4096", "4096"]
    assert rows["Max data size"] == ["4096000000", "4096000000"]
    assert rows["Max processes"] == ["9000", "9000"]


@pytest.mark.parametrize("code", [0, 1, FAILED, 126, 127])
def test_a_programs_own_end_is_not_ours(code: int) -> None:
    placement = place(())
    done = run(placement, "sh", "-c", f"echo truepenny-start: no >&2; exit {code}")
    assert done.returncode == code
    assert placement.verdict(done.returncode, done.stderr) is None


@pytest.mark.parametrize("words", [("",), ("-n",), ("--",), ("$(echo x)", "a b", "'", "*")])
def test_the_programs_words_arrive_as_they_are(words: tuple[str, ...]) -> None:
    done = run(place((), ("-c", "0")), "printf", "%s|", *words)
    assert done.stdout == "".join(f"{word}|" for word in words)


def test_a_token_is_its_starts_alone_and_survives_redaction() -> None:
    tokens = {place(()).token for _ in range(50)}
    assert len(tokens) == 50
    line = f"{tokens.pop()}: the control group cannot be joined"
    assert Redactor().text(line).text == line


def test_an_unknown_end_proves_nothing() -> None:
    placement = place(())
    assert placement.verdict(None, f"{placement.token}: 1: x") is None
    assert placement.verdict(FAILED, f"{placement.token}: 1: x") == NotStarted(
        Refused.SANDBOX, "1: x"
    )
