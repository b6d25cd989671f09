from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import truepenny.sandbox.place as place_module
from truepenny.sandbox.place import NotAPlace, Place, is_within, make_point, open_place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture(params=["at once", "walked"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to a place: the kernel's own look, and ours where the kernel has none."""

    def none(name: str, *arguments: int) -> int:
        raise OSError(errno.ENOSYS, name)

    if request.param == "walked":
        monkeypatch.setattr(place_module, "call", none)


def test_a_name_with_a_nul_is_refused(root: Path) -> None:
    (root / "a").touch()
    with pytest.raises(ValueError, match="null"):
        open_place(root / "a\0b")


def opened(path: Path, start: int | None = None) -> Place:
    place = open_place(path, start)
    place.close()
    return place


def test_it_is_the_file_that_the_path_names(root: Path) -> None:
    (root / "file").write_text("text", encoding="utf-8")
    found = os.stat(root / "file")
    place = opened(root / "file")
    assert place.identity == (found.st_dev, found.st_ino)
    assert not place.is_folder
    assert opened(root).is_folder
    assert opened(Path("/")).is_folder


@pytest.mark.parametrize("target", ["/etc", "there", "/no/such/place", "."])
def test_a_link_is_no_place_at_the_end_or_on_the_way(root: Path, target: str) -> None:
    (root / "there").mkdir()
    (root / "link").symlink_to(target)
    before = set(os.listdir("/proc/self/fd"))
    for path in (root / "link", root / "link" / "below"):
        with pytest.raises(NotAPlace, match="link is a link"):
            open_place(path)
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_file_on_the_way_is_named(root: Path) -> None:
    (root / "file").touch()
    with pytest.raises(NotAPlace, match="file is no folder"):
        open_place(root / "file" / "below")


def test_upwards_is_no_way(root: Path) -> None:
    with pytest.raises(NotAPlace, match="upwards"):
        open_place(root / ".." / "x")


def test_what_is_missing_is_missing(root: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_place(root / "none")


def test_a_relative_path_starts_where_it_is_told(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "file").touch()
    start = opened_descriptor(root / "a")
    assert opened(Path("file"), start).identity == opened(root / "a" / "file").identity
    assert opened(Path("."), start).identity == opened(root / "a").identity
    os.close(start)


def opened_descriptor(path: Path) -> int:
    return os.open(path, os.O_PATH)


@pytest.mark.parametrize("folder", [True, False])
def test_a_point_is_made_with_what_is_above_it(root: Path, folder: bool) -> None:
    start = opened_descriptor(root)
    place = make_point(start, Path("a/b/c"), folder, (os.getuid(), os.getgid()))
    place.close()
    os.close(start)
    assert (root / "a" / "b").is_dir()
    assert (root / "a" / "b" / "c").is_dir() is folder
    assert place.is_folder is folder


def test_a_point_that_is_there_is_left_as_it_is(root: Path) -> None:
    (root / "file").write_text("text", encoding="utf-8")
    start = opened_descriptor(root)
    make_point(start, Path("file"), False, None).close()
    os.close(start)
    assert (root / "file").read_text(encoding="utf-8") == "text"


@pytest.mark.parametrize("relative", ["link", "link/below", "dangling", "dangling/below"])
def test_a_point_is_never_made_through_a_link(root: Path, relative: str) -> None:
    inside, outside = root / "inside", root / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "dangling").symlink_to(outside / "new")
    start = opened_descriptor(inside)
    for folder in (True, False):
        with pytest.raises(NotAPlace, match="is a link"):
            make_point(start, Path(relative), folder, None)
    os.close(start)
    assert list(outside.iterdir()) == []


def test_a_point_of_the_wrong_kind_is_refused(root: Path) -> None:
    (root / "file").touch()
    (root / "folder").mkdir()
    start = opened_descriptor(root)
    for name, folder in (("file", True), ("folder", False), ("file/below", True)):
        with pytest.raises(NotAPlace):
            make_point(start, Path(name), folder, None)
    os.close(start)


@pytest.mark.parametrize(
    ("path", "folder", "within"),
    [
        ("/a", "/a", True),
        ("/a/b", "/a", True),
        ("/ab", "/a", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
        ("/", "/", True),
    ],
)
def test_within_is_by_whole_names(path: str, folder: str, within: bool) -> None:
    assert is_within(Path(path), Path(folder)) is within
    assert Path(path).is_relative_to(folder) is within
