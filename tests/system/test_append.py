"""Append-only records: a torn tail is told apart and never runs into a good record."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.errors import StorageFailed
from truepenny.system.append import LONGEST_RECORD, AppendFile, Record, read_records

_records = st.lists(st.binary(max_size=40).filter(lambda data: b"\n" not in data), max_size=6)


@given(_records, st.integers(0, 300))
def test_any_cut_leaves_whole_records_and_names_the_torn_one(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], cut: int
) -> None:
    path = tmp_path_factory.mktemp("append") / "log"
    with AppendFile(path) as file:
        for record in records:
            file.append(record)
    whole = path.read_bytes()
    cut %= len(whole) + 1
    path.write_bytes(whole[:cut])
    got = read_records(path)
    kept = [record.data for record in got]
    assert kept == records[: len(kept)]
    assert got.end == sum(len(data) + 1 for data in records[: len(kept)])
    assert got.end + got.torn == cut
    torn = whole[got.end : cut]
    with AppendFile(path) as file:
        assert file.sealed == len(torn)
        file.append(b"next")
    again = read_records(path)
    assert [record.data for record in again] == kept + ([torn] if torn else []) + [b"next"]
    assert again.torn == 0
    assert [record.data for record in read_records(path, got.end)][-1] == b"next"


def test_offsets_are_bytes(tmp_path: Path) -> None:
    with AppendFile(tmp_path / "log", durable=True) as file:
        file.append("é".encode())
        file.append(b"b")
    got = read_records(tmp_path / "log")
    assert tuple(got) == (Record(0, "é".encode()), Record(3, b"b"))
    assert os.stat(tmp_path / "log").st_mode & 0o777 == 0o600


def test_a_long_torn_tail_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"ok\n" + b"x" * 200_000)
    with AppendFile(path) as file:
        assert file.sealed == 200_000


def test_a_line_that_no_record_can_be_is_measured_and_not_held(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.write(b"a\n")
        file.truncate(LONGEST_RECORD * 8)  # A hole: it takes no room on the disk.
        file.seek(0, os.SEEK_END)
        file.write(b"\nb\n")
        file.truncate(LONGEST_RECORD * 16)
    tracemalloc.start()
    try:
        got = read_records(path)
        assert [record.data for record in got] == [b"a", None, b"b"]
        assert tracemalloc.get_traced_memory()[1] < LONGEST_RECORD * 3
    finally:
        tracemalloc.stop()
    assert got.torn == LONGEST_RECORD * 8 - 3


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"a\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "."):
        with pytest.raises(StorageFailed):
            read_records(tmp_path / name)


def test_a_record_is_one_line(tmp_path: Path) -> None:
    with AppendFile(tmp_path / "log") as file, pytest.raises(ValueError, match="one line"):
        file.append(b"a\nb")


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        AppendFile(tmp_path / "no" / "log")
    with pytest.raises(FileNotFoundError):
        read_records(tmp_path / "log")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_storage_failure() -> None:
    with AppendFile(Path("/dev/full")) as file, pytest.raises(StorageFailed) as caught:
        file.append(b"x")
    assert "space" in caught.value.remedy


def test_several_processes_append_whole_records(tmp_path: Path) -> None:
    path = tmp_path / "log"
    code = (
        "import sys; from pathlib import Path; from truepenny.system.append import AppendFile\n"
        "with AppendFile(Path(sys.argv[1])) as file:\n"
        "    for n in range(200): file.append((sys.argv[2] * 300 + str(n)).encode())\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "abc"
    ]
    assert [child.wait(30) for child in children] == [0, 0, 0]
    got = read_records(path)
    records = [record.data for record in got if record.data]
    assert got.torn == 0
    for letter in b"abc":
        mine = [data for data in records if data[0] == letter]
        assert mine == [bytes([letter]) * 300 + str(n).encode() for n in range(200)]
