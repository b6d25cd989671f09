from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from truepenny.cli import standard_input
from truepenny.cli.standard_input import MAX_BYTES, read_piped
from truepenny.errors import UsageError


@contextmanager
def redirected(path: Path, data: bytes) -> Iterator[int]:
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    with redirected(tmp_path / "in", "log: größer\n".encode()) as descriptor:
        assert read_piped(descriptor).text == "log: größer\n"


def test_what_is_not_utf8_is_refused_with_the_byte(tmp_path: Path) -> None:
    with (
        redirected(tmp_path / "in", b"good \xff bad") as descriptor,
        pytest.raises(UsageError) as raised,
    ):
        read_piped(descriptor)
    assert "byte 5 is 0xff" in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_large_input_is_cut_on_a_character_and_counted(tmp_path: Path) -> None:
    data = "é".encode() * MAX_BYTES
    with redirected(tmp_path / "in", b"x" + data) as descriptor:
        piped = read_piped(descriptor)
    body, _, marker = piped.text.rpartition("\n")
    kept = len(body.encode())
    assert kept <= MAX_BYTES
    assert set(body) == {"x", "é"}
    assert f"{len(data) + 1 - kept} of {len(data) + 1} bytes are missing" in marker
    assert piped.notice


def test_a_silent_pipe_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard_input, "PATIENCE_SECONDS", 0)
    reader, writer = os.pipe()
    try:
        piped = read_piped(reader)
    finally:
        os.close(reader)
        os.close(writer)
    assert piped.text == ""
    assert "silent" in piped.notice


def test_an_empty_pipe_and_a_closed_input_are_nothing() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    assert read_piped(reader) == standard_input.Piped("")
    os.close(reader)
    assert read_piped(reader) == standard_input.Piped("")


def test_a_device_is_never_read() -> None:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    assert read_piped(descriptor) == standard_input.Piped("")
    os.close(descriptor)
