"""Where files go by default, in one tree, and role by role."""

from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.errors import ConfigurationError, StorageFailed
from truepenny.system.directories import Directories, ensure


def test_defaults_follow_xdg() -> None:
    got = Directories.from_environment({"HOME": "/home/a", "XDG_RUNTIME_DIR": "/run/user/1"})
    assert got.config == Path("/home/a/.config/truepenny")
    assert got.data == Path("/home/a/.local/share/truepenny")
    assert got.state == Path("/home/a/.local/state/truepenny")
    assert got.cache == Path("/home/a/.cache/truepenny")
    assert got.runtime == Path("/run/user/1/truepenny")


def test_xdg_variables_count_and_relative_ones_do_not() -> None:
    env = {"HOME": "/home/a", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "relative"}
    got = Directories.from_environment(env)
    assert got.config == Path("/c/truepenny")
    assert got.data == Path("/home/a/.local/share/truepenny")
    assert got.runtime == got.state / "run"


def test_one_tree_and_single_roles() -> None:
    env = {
        "HOME": "/home/a",
        "XDG_CONFIG_HOME": "/c",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "TRUEPENNY_HOME": "/srv/tp",
        "TRUEPENNY_CACHE_DIR": "~/scratch",
    }
    got = Directories.from_environment(env)
    assert got == Directories(
        Path("/srv/tp/config"),
        Path("/srv/tp/data"),
        Path("/srv/tp/state"),
        Path("/home/a/scratch"),
        Path("/srv/tp/run"),
    )


def test_a_relative_path_of_ours_is_an_error() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Directories.from_environment({"HOME": "/h", "TRUEPENNY_HOME": "here"})
    assert caught.value.where == "TRUEPENNY_HOME"
    assert caught.value.exit_code == 3


def test_without_home_the_account_is_asked() -> None:
    assert Directories.from_environment({}).config.is_absolute()


def test_ensure_creates_privately_and_names_failures(tmp_path: Path) -> None:
    made = ensure(tmp_path / "a" / "b")
    assert made.stat().st_mode & 0o777 == 0o700
    assert ensure(made) == made
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageFailed):
        ensure(tmp_path / "file" / "x")
