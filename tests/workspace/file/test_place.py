"""A path leads where it may or nowhere, whatever is swapped meanwhile."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.exhaustion import exhausted
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.place import Need, find_place
from truepenny.workspace.file.write import write

from .world import access


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "work"
    (inside / "deep").mkdir(parents=True)
    (inside / "deep" / "file").write_text("inside", encoding="utf-8")
    (tmp_path / "secret").write_text("outside", encoding="utf-8")
    return inside


def reason(root: Path, argument: str, need: Need = Need.READ, **roots: Any) -> str:
    with pytest.raises(FileFault) as caught, find_place(access(root, **roots), argument, need):
        pass
    return caught.value.reason


@pytest.mark.parametrize("argument", ["deep/file", "deep/../deep/./file", "./deep//file"])
def test_a_path_inside_is_found(root: Path, argument: str) -> None:
    with find_place(access(root), argument, Need.READ) as place:
        assert (place.path, place.kind, place.linked) == (root / "deep/file", "file", False)
        handle = place.open_file()
        assert os.read(handle, 100) == b"inside"
        os.close(handle)


@pytest.mark.parametrize(
    "argument",
    [
        "../secret", "../missing", "/etc/passwd", "/etc/missing/thing", "/", "..",
        "deep/../../secret", "/proc/self/root/etc/passwd", "/proc/self/environ",
    ],
)  # fmt: skip
def test_outside_gets_one_answer_whether_it_exists_or_not(root: Path, argument: str) -> None:
    assert reason(root, argument) in ("outside_roots", "not_found")
    assert reason(root, argument, Need.WRITE) == "outside_roots"
    if argument.startswith(("/", "../")):
        assert reason(root, argument) == "outside_roots"


@pytest.mark.parametrize("target", ["../secret", "{outside}/secret", "{outside}", "deep/up/../.."])
def test_a_link_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "deep" / "up").symlink_to("../..")
    (root / "link").symlink_to(target.format(outside=root.parent))
    for argument in ("link", "link/secret"):
        assert reason(root, argument) in ("outside_roots", "not_a_directory")
        assert reason(root, argument, Need.WRITE) in ("outside_roots", "not_a_directory")
    assert (root.parent / "secret").read_text(encoding="utf-8") == "outside"


def test_a_dangling_link_out_is_refused_also_for_a_new_file(root: Path) -> None:
    (root / "new").symlink_to(root.parent / "made")
    assert reason(root, "new", Need.WRITE) == "outside_roots"
    assert not (root.parent / "made").exists()


def test_links_inside_are_followed_to_the_real_path(root: Path) -> None:
    (root / "relative").symlink_to("deep/file")
    (root / "absolute").symlink_to(root / "deep")
    for argument in ("relative", "absolute/file"):
        with find_place(access(root), argument, Need.READ) as place:
            assert (place.path, place.linked) == (root / "deep/file", True)
    (root / "dangling").symlink_to("deep/new")
    with find_place(access(root), "dangling", Need.WRITE) as place:
        assert (place.path, place.found) == (root / "deep/new", None)


def test_a_circle_and_too_many_links_end(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert reason(root, "a") == "link_circle"
    for number in range(60):
        (root / f"chain{number}").symlink_to(f"chain{number + 1}")
    assert reason(root, "chain0") == "link_circle"


def test_a_root_that_is_reached_by_a_link_is_that_root(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    with find_place(access(root), str(root.parent / "alias/deep/file"), Need.READ) as place:
        assert place.path == root / "deep/file"
    with find_place(access(root.parent / "alias"), "deep/file", Need.READ) as place:
        assert place.path == root / "deep/file"


def test_the_deepest_root_decides_and_what_is_hidden_is_denied(root: Path) -> None:
    hidden = (root / "deep" / "kept", root / "none")
    roots = {"read": (root / "deep",), "hidden": hidden, "deny": (root / "fixed", *hidden)}
    assert reason(root, "deep/file", Need.WRITE, **roots) == "read_only"
    with find_place(access(root, **roots), "deep/file", Need.READ):
        pass
    assert reason(root, "deep/kept/x", Need.READ, **roots) == "denied"
    assert reason(root, "none/x/y", Need.WRITE, **roots) == "denied"
    assert reason(root, "fixed/x", Need.WRITE, **roots) == "read_only"
    assert reason(root, "fixed/x", Need.READ, **roots) == "not_found"
    (root / "way").symlink_to("none")
    assert reason(root, "way/x", Need.WRITE, **roots) == "denied"


def test_what_is_no_file_is_refused_without_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        for name, kind in (("pipe", "pipe"), ("socket", "socket")):
            with find_place(access(root), name, Need.READ) as place:
                assert place.kind == kind
                with pytest.raises(FileFault) as caught:
                    place.open_file()
            assert caught.value.reason == "not_a_file"
    with find_place(access(root, read=(Path("/dev"),)), "/dev/null", Need.READ) as place:
        assert place.kind == "device"
    with find_place(access(root), "deep", Need.READ) as place, pytest.raises(FileFault) as caught:
        place.open_file()
    assert caught.value.reason == "is_directory"


@pytest.mark.parametrize("argument", ["", "a\0b", "x" * 5000, "\ud800"])
def test_what_is_no_path_is_invalid(root: Path, argument: str) -> None:
    assert reason(root, argument) == "path"


def test_a_missing_name_is_told_with_those_like_it(root: Path) -> None:
    with pytest.raises(FileFault) as caught, find_place(access(root), "deep/fiel", Need.READ):
        pass
    assert caught.value.reason == "not_found"
    assert str(root / "deep/file") in caught.value.hint
    assert reason(root, "deep/file/x") == "not_a_directory"
    assert reason(root, "deep/file/") == "not_a_directory"
    assert reason(root, "deep/new/", Need.WRITE) == "not_a_directory"
    assert reason(root, "deep/none/../../../secret", Need.WRITE) == "not_found"


def test_missing_directories_are_made_below_the_place(root: Path) -> None:
    with find_place(access(root), "a/b/c", Need.WRITE) as place:
        assert place.missing == ("a", "b")
        assert place.make_parents() == 2
        assert place.name == "c"
        assert os.path.samestat(os.fstat(place.parent), (root / "a/b").stat())


def test_a_file_that_is_swapped_after_it_was_found_is_not_opened(root: Path) -> None:
    for swap in ("link", "file", "gone"):
        (root / "f").write_bytes(b"x")
        with find_place(access(root), "f", Need.READ) as place:
            (root / "f").rename(root / "old")
            if swap == "link":
                (root / "f").symlink_to(root.parent / "secret")
            elif swap == "file":
                (root / "f").write_bytes(b"y")
            with pytest.raises(FileFault) as caught:
                place.open_file()
            assert caught.value.reason == "changed_meanwhile"
        (root / "f").unlink(missing_ok=True)


def test_no_descriptor_is_left_open(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for argument in ("deep/file", "../secret", "deep/none", "deep/file/x"):
        try:
            with find_place(access(root), argument, Need.READ) as place:
                os.close(place.open_file())
        except FileFault:
            pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_out_of_descriptors_is_our_own_lack(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for free in range(4):
        with exhausted(free):
            assert reason(root, "deep/file") == "no_resources"
    assert len(os.listdir("/proc/self/fd")) == before


@contextmanager
def flipping(root: Path) -> Iterator[Path]:
    """Swap `d` between a folder and a link to a folder outside, which is yielded, all the time."""
    outside, folder, link = root.parent / "out", root / "folder", root / "link"
    outside.mkdir()
    (outside / "f").write_bytes(b"outside")
    folder.mkdir()
    (folder / "f").write_bytes(b"inside")
    link.symlink_to(outside)
    spot, done = root / "d", threading.Event()

    def flip() -> None:
        aside = count()
        while not done.is_set():
            for thing in (folder, link):
                try:
                    os.rename(thing, spot)
                except OSError:  # a writer made a folder of that name: put it away
                    os.rename(spot, root / f"made{next(aside)}")
                else:
                    os.rename(spot, thing)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        yield outside
    finally:
        done.set()
        thread.join()


def test_a_directory_that_flips_to_a_link_never_lets_a_read_out(root: Path) -> None:
    seen: dict[str, int] = {}
    with flipping(root):
        for _ in range(2000):
            try:
                with find_place(access(root), "d/f", Need.READ) as place:
                    handle = place.open_file()
                    word = os.read(handle, 100).decode()
                    os.close(handle)
            except FileFault as fault:
                word = fault.reason
            seen[word] = seen.get(word, 0) + 1
    assert set(seen) <= {"inside", "outside_roots", "not_found", "changed_meanwhile"}
    assert len(seen) > 1, "nothing was swapped meanwhile: the test proved nothing"


def test_a_directory_that_flips_to_a_link_never_lets_a_write_out(root: Path) -> None:
    """What is written is in the folder, or refused; names that a swap hides are made inside."""
    seen: set[str] = set()
    with flipping(root) as outside:
        for number in range(3000):
            if number > 60 and len(seen) > 1:
                break
            for path in (f"d/new{number}", f"d/deep{number}/new", "d/f"):
                try:
                    write(access(root), {"path": path, "content": "inside"})
                    seen.add("written")
                except FileFault as fault:
                    seen.add(fault.reason)
        found = {entry.name: entry.read_bytes() for entry in outside.iterdir()}
    assert found == {"f": b"outside"}
    assert "written" in seen
    assert len(seen) > 1, "nothing was swapped meanwhile: the test proved nothing"
