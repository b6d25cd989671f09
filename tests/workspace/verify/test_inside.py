"""Files of the workspace are read and written inside of it, whatever is swapped meanwhile."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path

import pytest

from tests.privilege import without_privilege
from tests.workspace.world import folder
from truepenny.errors import StorageFailed
from truepenny.workspace.verify.inside import NotInside, read, resolve, write


def reason(root: Path, path: str, most: int = 100) -> str:
    with pytest.raises(NotInside) as caught:
        read(root, path, most)
    return caught.value.reason


def test_reading(tmp_path: Path) -> None:
    root = (tmp_path / "work").resolve()
    (root / "a").mkdir(parents=True)
    (root / "a/file").write_bytes(b"12345")
    (root / "inner").symlink_to("a")
    (root / "outer").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    assert read(root, "a/file", 5) == read(root, "inner/file", 5) == b"12345"
    assert reason(root, "a/file", 4) == "too_large"
    assert reason(root, "a/none") == "missing"
    assert reason(root, "a") == reason(root, ".") == reason(root, "fifo") == "not_a_file"
    assert reason(root, "a/file/x") in ("not_a_folder", "missing")
    assert reason(root, "../x") == reason(root, "outer/x") == "outside_workspace"
    assert reason(root, "/etc/passwd") == reason(root, "a\0") == "outside_workspace"
    assert reason(root, "loop") in ("missing", "changed")


def test_a_file_that_may_not_be_read_is_not_missing() -> None:
    with folder() as root:
        (root / "file").write_bytes(b"x")
        (root / "file").chmod(0)
        with without_privilege():
            assert reason(root, "file") == "unreadable"


def test_writing_makes_folders_and_replaces_links_never_their_targets(tmp_path: Path) -> None:
    root = (tmp_path / "work").resolve()
    root.mkdir()
    victim = tmp_path / "victim"
    victim.write_bytes(b"old")
    write(root, "a/b/file", b"new")
    assert (root / "a/b/file").read_bytes() == b"new"
    assert (root / "a/b/file").stat().st_mode & 0o777 == 0o644
    (root / "a/link").symlink_to(victim)
    write(root, "a/link", b"new")
    assert victim.read_bytes() == b"old"
    assert (root / "a/link").read_bytes() == b"new"
    (root / "out").symlink_to(tmp_path)
    for path in ("out/victim", "../victim", "/victim", "", "a\0"):
        with pytest.raises(NotInside):
            write(root, path, b"new")
    with pytest.raises(StorageFailed):
        write(root, "a/b", b"a folder stands there")
    assert sorted(os.listdir(root / "a")) == ["b", "link"]


def test_a_folder_that_turns_into_a_link_in_a_loop_leads_nowhere(tmp_path: Path) -> None:
    root, outside = (tmp_path / "work").resolve(), tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    (root / "real/file").write_bytes(b"inside")
    outside.mkdir()
    (outside / "file").write_bytes(b"secret")
    (root / "evil").symlink_to(outside)
    os.rename(root / "real", root / "door")
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    names = (os.fsencode(root / "door"), os.fsencode(root / "evil"))
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            # RENAME_EXCHANGE: one of the two is there at every moment.
            assert exchange(-100, names[0], -100, names[1], 2) == 0

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen: set[str] = set()
    try:
        for _ in range(3000):
            try:
                assert read(root, "door/file", 100) == b"inside"
                seen.add("read")
            except NotInside as problem:
                seen.add(problem.reason)
            try:
                write(root, "door/new", b"x")
            except (NotInside, StorageFailed):
                pass
    finally:
        stop.set()
        swapper.join()
    assert sorted(os.listdir(outside)) == ["file"]
    assert "read" in seen
    assert seen <= {"read", "outside_workspace", "missing", "not_a_folder", "changed"}


def test_where_a_path_leads(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "a").mkdir()
    (root / "b").symlink_to("a")
    assert str(resolve(root, "b/x")) == "a/x"
    assert str(resolve(root, ".")) == "."
