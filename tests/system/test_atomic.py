"""Atomic publish: all or nothing, links and modes kept, failures named."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from truepenny.errors import StorageFailed
from truepenny.system import atomic
from truepenny.system.atomic import publish, publish_at, storage_failed


def test_a_new_file_is_private_and_durable(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    done = publish(target, b"one")
    assert (done.path, done.durable, done.warning) == (target, True, "")
    assert target.read_bytes() == b"one"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_mode_is_kept_or_set(tmp_path: Path) -> None:
    target = tmp_path / "a"
    publish(target, b"1", mode=0o640)
    target.chmod(0o644)
    publish(target, b"2")
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    publish(target, b"3", mode=0o600)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_symbolic_link_stays_and_its_target_changes(tmp_path: Path) -> None:
    real, link = tmp_path / "deep" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to("deep/real")
    assert publish(link, b"new").path == real
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_dangling_link_creates_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("not-yet")
    publish(link, b"x")
    assert (tmp_path / "not-yet").read_bytes() == b"x"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes owners")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "a"
    publish(target, b"1")
    os.chown(target, 12345, 12346)
    publish(target, b"2")
    found = target.stat()
    assert (found.st_uid, found.st_gid) == (12345, 12346)


def test_a_reader_sees_the_old_or_the_new(tmp_path: Path) -> None:
    target = tmp_path / "a"
    publish(target, b"old")
    with target.open("rb") as reader:
        publish(target, b"newer")
        assert reader.read() == b"old"


@pytest.mark.parametrize("kind", ["directory", "missing parent", "file as parent", "circle"])
def test_impossible_targets_are_storage_failures(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "x"
    if kind == "directory":
        target.mkdir()
    elif kind == "missing parent":
        target = tmp_path / "no" / "x"
    elif kind == "file as parent":
        target.write_bytes(b"")
        target = target / "y"
    else:
        target.symlink_to("y")
        (tmp_path / "y").symlink_to("x")
    with pytest.raises(StorageFailed) as caught:
        publish(target, b"data")
    assert caught.value.where == str(target)
    assert caught.value.remedy


def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a"
    publish(target, b"old")
    real_write = os.write

    def short_then_full(handle: int, data: bytes | memoryview) -> int:
        if len(data) > 2:
            return real_write(handle, bytes(data[:2]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "write", short_then_full)
    with pytest.raises(StorageFailed):
        publish(target, b"newer content")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_the_device_that_is_always_full() -> None:
    error = OSError(errno.ENOSPC, "x")
    failed = storage_failed(error, "/a", "Writing")
    assert failed.exit_code == 5
    assert "space" in failed.remedy


def test_a_directory_that_cannot_be_synced_is_a_fact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def refuse_directories(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(handle)

    monkeypatch.setattr(atomic.os, "fsync", refuse_directories)
    done = publish(tmp_path / "a", b"x")
    assert not done.durable
    assert done.warning
    assert (tmp_path / "a").read_bytes() == b"x"


def test_in_an_open_directory_no_link_is_followed_and_a_last_look_can_stop_it(
    tmp_path: Path,
) -> None:
    def changed() -> None:
        raise ValueError("changed meanwhile")

    (tmp_path / "link").symlink_to("real")
    (tmp_path / "old").write_bytes(b"old")
    directory = os.open(tmp_path, os.O_RDONLY)
    try:
        assert publish_at(directory, "new", b"x", created=0o640) == ""
        with pytest.raises(OSError, match="symbolic links"):
            publish_at(directory, "link", b"x")
        with pytest.raises(ValueError, match="meanwhile"):
            publish_at(directory, "old", b"new", before=changed)
    finally:
        os.close(directory)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640 & ~_umask()
    assert (tmp_path / "old").read_bytes() == b"old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "new", "old"]


def test_the_longest_name_has_a_temporary_one(tmp_path: Path) -> None:
    name = "\u20ac" * 85  # 255 bytes
    publish(tmp_path / name, b"x")
    assert (tmp_path / name).read_bytes() == b"x"


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def test_killed_outright_amidst_a_write_we_leave_no_temporary_file(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from truepenny.system.atomic import publish\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        "publish(sys.argv[1], b'new')\n"
    )
    target = tmp_path / "file"
    target.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"old"
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        return  # Nothing can be written here before it has a name.
    assert os.listdir(tmp_path) == ["file"]


def test_where_no_file_can_be_without_a_name_it_is_written_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "no link of that")

    monkeypatch.setattr(os, "link", refused)
    publish(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]
