"""The output file of a background run: whole lines in, whole characters out."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.execute.background.output import (
    LINE_CHARS,
    TAIL_BYTES,
    OutputFile,
    read_part,
    read_tail,
)


def test_lines_of_two_streams_do_not_mix(tmp_path: Path) -> None:
    file = OutputFile(tmp_path / "out")
    file.feed("stdout", "one ")
    file.feed("stderr", "warn")
    file.feed("stdout", "line\ntwo ")
    file.feed("stderr", "ing\n")
    assert file.path.read_text(encoding="utf-8") == "one line\nwarning\n"
    file.close()
    file.close()
    assert file.path.read_text(encoding="utf-8") == "one line\nwarning\ntwo "
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_a_line_without_an_end_is_not_held_for_ever(tmp_path: Path) -> None:
    file = OutputFile(tmp_path / "out")
    file.feed("stdout", "x" * (LINE_CHARS + 1))
    assert file.size == LINE_CHARS + 1
    file.close()


def test_beyond_the_cap_it_is_counted(tmp_path: Path) -> None:
    file = OutputFile(tmp_path / "out", limit=10)
    file.feed("stdout", "12345é78é\n")
    file.feed("stdout", "more\n")
    file.close()
    assert file.path.read_text(encoding="utf-8") == "12345é78"
    assert (file.size, file.cut) == (9, 3 + 5)


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_stands_there_already_is_not_opened(tmp_path: Path, kind: str) -> None:
    path, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    if kind == "file":
        os.link(victim, path)
    elif kind == "link":
        path.symlink_to(victim)
    else:
        os.mkfifo(path)
    with pytest.raises(FileExistsError):
        OutputFile(path)
    assert victim.read_text(encoding="utf-8") == "mine"


def test_a_link_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic"):
        read_part(path, 0)
    with pytest.raises(OSError, match="symbolic"):
        read_tail(path, 5)


@given(text=st.text(max_size=80), limit=st.integers(1, 40))
def test_reading_on_gives_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, limit: int
) -> None:
    path = tmp_path_factory.mktemp("read") / "out"
    data = text.encode("utf-8", "replace")
    path.write_bytes(data)
    parts: list[str] = []
    offset = 0
    while offset < len(data):
        part, following, size = read_part(path, offset, limit)
        assert size == len(data)
        assert following > offset
        assert len(part.encode()) <= max(limit, 4)
        parts.append(part)
        offset = following
    assert "".join(parts).encode() == data
    assert read_part(path, offset + 5) == ("", len(data), len(data))


@given(lines=st.lists(st.text("aé\u4e2d", max_size=5), max_size=8), count=st.integers(0, 10))
def test_the_tail_is_the_last_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], count: int
) -> None:
    path = tmp_path_factory.mktemp("tail") / "out"
    text = "\n".join(lines)
    path.write_bytes(text.encode())
    found, start, size = read_tail(path, count)
    whole = text.splitlines(keepends=True)
    assert found == "".join(whole[len(whole) - min(count, len(whole)) :])
    assert (start + len(found.encode()), size) == (len(text.encode()),) * 2


def test_a_tail_looks_back_only_so_far(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("x" * TAIL_BYTES + "\nlast\n", encoding="utf-8")
    assert read_tail(path, 2)[0] == "last\n"
    path.write_text("é" * TAIL_BYTES, encoding="utf-8")
    assert set(read_tail(path, 1)[0]) == {"é"}


def test_a_disk_that_is_full_leaves_no_part_of_a_character(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from truepenny.execute.background.output import OutputFile
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
output = OutputFile(Path(sys.argv[1]))
output.feed("stdout", "abcdefghi\u20ac\u20ac\\n")
output.close()
print(output.size, output.cut, output.problem, output.intact())
"""
    path = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == "9 7 File too large True\n"
    assert read_part(path, 0) == ("abcdefghi", 9, 9)
    assert read_tail(path, 5) == ("abcdefghi", 0, 9)
