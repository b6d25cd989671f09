"""Which runs a sweep removes, and that nothing put in its way fools or hangs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from truepenny.system.lock_record import LockRecord
from truepenny.workspace.script_run.folder import new_folder
from truepenny.workspace.script_run.retention import sweep

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def finished(runs: Path, hours: int) -> Path:
    """Make a run that ended so many hours ago."""
    ended = NOW - timedelta(hours=hours)
    folder = new_folder(runs, ended)
    folder.manifest.write_text(json.dumps({"finishedAt": ended.isoformat()}), encoding="utf-8")
    folder.finish()
    return folder.path


def orphan(runs: Path, hours: int, owner: bytes = b"") -> Path:
    """Make a run without a manifest, last touched so many hours ago."""
    folder = new_folder(runs, NOW - timedelta(hours=hours))
    folder.stdout.write_text("x", encoding="utf-8")
    (folder.path / "owner").write_bytes(owner)
    then = (NOW - timedelta(hours=hours)).timestamp()
    for path in (*folder.path.iterdir(), folder.path):
        os.utime(path, (then, then))
    return folder.path


def dead() -> bytes:
    """The record of a process that is gone."""
    code = (
        "import sys; from truepenny.system.lock_record import LockRecord;"
        "sys.stdout.buffer.write(LockRecord.mine('run_script').encode())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return done.stdout


def test_the_newest_by_their_end_are_kept(tmp_path: Path) -> None:
    paths = [finished(tmp_path, hours) for hours in (5, 1, 9, 3)]
    got = sweep(tmp_path, 2, NOW)
    assert (got.removed, got.kept, got.active) == (2, 2, 0)
    assert [path.exists() for path in paths] == [False, True, False, True]


def test_orphans_go_after_a_day_and_what_still_runs_stays(tmp_path: Path) -> None:
    gone, mine = dead(), LockRecord.mine("run_script").encode()
    old, young = orphan(tmp_path, 30, gone), orphan(tmp_path, 2, gone)
    active = orphan(tmp_path, 300, mine)
    got = sweep(tmp_path, 1, NOW)
    assert (got.removed, got.kept, got.active, got.skipped) == (1, 1, 1, [])
    assert [path.exists() for path in (old, young, active)] == [False, True, True]


def test_a_pipe_or_a_link_in_the_place_of_a_manifest_is_skipped_and_told(tmp_path: Path) -> None:
    pipe, link, large, broken = (orphan(tmp_path / "runs", 40) for _ in range(4))
    os.mkfifo(pipe / "run.json")
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"finishedAt": "2001-01-01T00:00:00Z"}), encoding="utf-8")
    (link / "run.json").symlink_to(secret)
    (large / "run.json").write_bytes(b" " * 65537)
    (broken / "run.json").write_bytes(b"[]")
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "20260101T000000Z-00ff00").symlink_to(tmp_path)
    got = sweep(tmp_path / "runs", 1, NOW)
    assert (got.removed, got.kept, got.active) == (0, 0, 0)
    assert dict(got.skipped) == {
        pipe.name: "not-a-regular-file",
        link.name: "not-a-regular-file",
        large.name: "too-large",
        broken.name: "unreadable-manifest",
        "notes": "not-a-run",
        "20260101T000000Z-00ff00": "not-a-run",
    }
    assert all(path.exists() for path in (pipe, link, large, broken))
    assert got.record()["skipped"] == 6


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    got = sweep(tmp_path / "none", 1, NOW)
    assert got.skipped == [("none", "unreadable: No such file or directory")]
