"""The record of a run, read by somebody else."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from truepenny.execute.background.record import MOST_BYTES, Record, State, read_record
from truepenny.system.lock_record import LockRecord

MINE = LockRecord.mine("background")
DEAD = replace(MINE, process_start=(MINE.process_start or "")[:-1] + "x")
RUN = Record("run_1", "me", "build", State.RUNNING, "then", "", None, None, "", 0, MINE)


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run_1.json"
    for record in (RUN, replace(RUN, state=State.EXITED, ended_at="now", exit=3, cut=5)):
        record.write(path)
        assert read_record(path) == record
    assert path.stat().st_mode & 0o777 == 0o600


def test_running_under_a_dead_runtime_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "run_1.json"
    replace(RUN, runtime=DEAD).write(path)
    found = read_record(path)
    assert found is not None
    assert found.state is State.LOST
    replace(RUN, runtime=DEAD, state=State.STOPPED).write(path)
    found = read_record(path)
    assert found is not None
    assert found.state is State.STOPPED


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b"[" * 30_000, b"x" * (MOST_BYTES + 1)],
)
def test_anything_else_is_no_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run_1.json"
    path.write_bytes(content)
    assert read_record(path) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("state", "gone"), ("exit", "0"), ("cut", None), ("runtime", "{}"), ("id", 5)],
)
def test_a_field_of_another_kind_is_no_record(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "run_1.json"
    RUN.write(path)
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**found, key: value}), encoding="utf-8")
    assert read_record(path) is None


def test_a_pipe_or_a_link_is_not_read(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    assert read_record(pipe) is None
    link.symlink_to(pipe)
    with pytest.raises(OSError, match="symbolic"):
        read_record(link)
