"""Temporary folders: private, gone in the end, and swept only where death is proven."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from truepenny.system.lock_record import LockRecord
from truepenny.system.scratch import OWNER, scratch_folder, sweep


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a private place for temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_behind(place: Path, kind: str = "call") -> Path:
    """Return the folder of a process that was killed while it had one."""
    code = (
        "import os, signal\nfrom truepenny.system.scratch import scratch_folder\n"
        f"with scratch_folder({kind!r}) as folder:\n"
        "    (folder / 'sub').mkdir()\n    (folder / 'sub' / 'file').touch()\n"
        "    print(folder, flush=True)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        check=False,
    )
    folder = Path(done.stdout.decode().strip())
    assert (folder / "sub" / "file").exists()
    return folder


def test_it_is_private_and_gone_in_the_end(place: Path) -> None:
    with pytest.raises(ZeroDivisionError), scratch_folder("call") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [entry.name for entry in folder.iterdir()] == [OWNER]
        (folder / "file").touch()
        raise ZeroDivisionError
    assert list(place.iterdir()) == []


def test_the_next_of_a_kind_removes_what_the_dead_left(place: Path) -> None:
    dead, other = left_behind(place), left_behind(place, "practice")
    with scratch_folder("call") as mine, scratch_folder("call") as second:
        assert not dead.exists()
        assert other.exists() and mine.exists() and second.exists()
    assert sweep("practice") == 1
    assert list(place.iterdir()) == []


def _no_record(folder: Path) -> None:
    (folder / OWNER).unlink()


def _half_a_record(folder: Path) -> None:
    data = (folder / OWNER).read_bytes()
    (folder / OWNER).write_bytes(data[: len(data) // 2])


def _another_host(folder: Path) -> None:
    record = json.loads((folder / OWNER).read_bytes()) | {"hostname": "elsewhere"}
    (folder / OWNER).write_bytes(json.dumps(record).encode() + b"\n")


def _another_pid_namespace(folder: Path) -> None:
    record = json.loads((folder / OWNER).read_bytes())
    scheme, boot, _, start = record["process_start"].split(":")
    record["process_start"] = f"{scheme}:{boot}:1:{start}"
    (folder / OWNER).write_bytes(json.dumps(record).encode() + b"\n")


def _alive(folder: Path) -> None:
    (folder / OWNER).write_bytes(LockRecord.mine("call").encode())


def _a_pipe(folder: Path) -> None:
    (folder / OWNER).unlink()
    os.mkfifo(folder / OWNER)


def _a_linked_record(folder: Path) -> None:
    (folder / OWNER).rename(folder / "elsewhere")
    (folder / OWNER).symlink_to(folder / "elsewhere")


HAS_NAMESPACES = (LockRecord.mine("call").process_start or "").startswith("linux-proc:")
"""Elsewhere a start identity names no namespace of processes."""


@pytest.mark.parametrize(
    "change",
    [
        _no_record,
        _half_a_record,
        _another_host,
        _alive,
        _a_pipe,
        _a_linked_record,
        *([_another_pid_namespace] if HAS_NAMESPACES else []),
    ],
)
def test_without_a_proof_of_death_it_stays(place: Path, change: Callable[[Path], None]) -> None:
    folder = left_behind(place)
    change(folder)
    os.utime(folder, (0, 0))
    assert sweep("call") == 0
    assert (folder / "sub" / "file").exists()


def test_links_are_not_followed(place: Path) -> None:
    target = left_behind(place).rename(place / "elsewhere")
    (place / "truepenny-call-link").symlink_to(target)
    assert sweep("call") == 0
    dead = left_behind(place)
    (dead / "link").symlink_to(target)
    assert sweep("call") == 1
    assert not dead.exists()
    assert (target / "sub" / "file").exists()


def test_another_users_stay(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left_behind(place)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert sweep("call") == 0
    assert folder.exists()


@pytest.mark.parametrize("more", [False, True])
def test_where_nothing_can_be_looked_into_it_goes_by_name_or_keeps_its_record(
    place: Path, monkeypatch: pytest.MonkeyPatch, more: bool
) -> None:
    with scratch_folder("call") as folder:
        if more:
            (folder / "file").touch()
        # As where no descriptor is left.
        monkeypatch.setattr("shutil.rmtree", lambda path, ignore_errors: None)
    assert list(place.iterdir()) == ([folder] if more else [])
    assert (folder / OWNER).exists() is more
