"""What stands around a line on its host: marks that are found in any pieces, and a true end."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.host.remote_shell import (
    Ended,
    MarkFilter,
    end_words,
    new_token,
    read_ended,
    run_words,
)

TOKEN = "0123456789abcdef01234567"
SHELLS = [shell for shell in ("dash", "bash", "zsh", "busybox") if shutil.which(shell)]


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(1, 40), max_size=12))
def test_marks_are_taken_out_however_the_bytes_come(
    before: bytes, after: bytes, cuts: list[int]
) -> None:
    def mark(text: str) -> bytes:
        return f"\x1e{TOKEN} {text}\x1e".encode()

    data = before + mark("session 4711") + after + mark("stages 3 1 3") + mark("bash 1")
    marks, out = MarkFilter(TOKEN), b""
    for size in cuts:
        out += marks.feed(data[:size])
        data = data[size:]
    out += marks.feed(data) + marks.finish()
    assert out == before + after
    assert (marks.session, marks.statuses) == (4711, (3, 1, 3))
    assert (marks.shell, marks.left) == ("bash", True)


def test_a_line_cannot_name_another_session() -> None:
    marks = MarkFilter(TOKEN)
    out = marks.feed(f"\x1e{TOKEN} session 7\x1e\x1e{TOKEN} session 1\x1e".encode())
    assert (out, marks.session) == (b"", 7)
    # Of another run, or not quite a mark: theirs.
    for theirs in (b"\x1eabc session 1\x1e", f"\x1e{TOKEN} session x\x1e".encode()):
        other = MarkFilter(TOKEN)
        assert other.feed(theirs) + other.finish() == theirs
        assert other.session is None


def test_the_answer_of_an_ending_is_read_or_unknown() -> None:
    assert read_ended(TOKEN, f"motd\n{TOKEN} gone 2\n") == Ended("gone", 2)
    assert read_ended(TOKEN, f"{TOKEN} left 12 13\n") == Ended("left", 2, (12, 13))
    assert read_ended(TOKEN, f"{TOKEN} unknown\n").state == "unknown"
    for foreign in ("", "gone 0", "other gone 0", f"{TOKEN} gone many", f"{TOKEN} left x"):
        assert read_ended(TOKEN, foreign).state == "unknown"


@pytest.mark.parametrize("login", SHELLS)
@pytest.mark.parametrize(
    ("line", "code", "out", "err"),
    [
        ("echo a; echo b >&2; exit 3", 3, b"a\n", b"b\n"),
        ("""printf '%s|' "it's" "a\\b" '$HOME' "x\ty" """, 0, b"it's|a\\b|$HOME|x\ty|", b""),
        ("printf '%s' 'näh' '!' '*' '~'", 0, "näh!*~".encode(), b""),
        ("cat", 0, b"", b""),
        ("echo one\necho two", 0, b"one\ntwo\n", b""),
    ],
)
def test_a_line_arrives_unchanged_through_any_login_shell(
    login: str, line: str, code: int, out: bytes, err: bytes
) -> None:
    token = new_token()
    words = [login, "sh"] if login == "busybox" else [login]
    done = subprocess.run(
        [*words, "-c", run_words(token, line)], capture_output=True, start_new_session=True
    )
    marks = MarkFilter(token)
    assert marks.feed(done.stderr) + marks.finish() == err
    assert (done.returncode, done.stdout) == (code, out)
    assert marks.session
    assert marks.left is False


def test_what_left_the_session_is_found_by_its_mark_and_nothing_else_is_touched() -> None:
    token = new_token()
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        line = "setsid sleep 61 >/dev/null 2>&1 & sleep 62 >/dev/null 2>&1 & true"
        done = subprocess.run(
            ["sh", "-c", run_words(token, line)], capture_output=True, start_new_session=True
        )
        marks = MarkFilter(token)
        marks.feed(done.stderr)
        assert marks.left
        assert marks.session
        said = subprocess.run(
            ["sh", "-c", end_words(token, marks.session)], capture_output=True, text=True
        )
        assert read_ended(token, said.stdout) == Ended("gone", 2)
        assert bystander.poll() is None
        again = subprocess.run(
            ["sh", "-c", end_words(token, marks.session)], capture_output=True, text=True
        )
        assert read_ended(token, again.stdout) == Ended("gone", 0)
    finally:
        bystander.kill()
        bystander.wait()
    assert os.getsid(0) != marks.session
