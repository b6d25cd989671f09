"""A user's files stay in the user's directory (spec/field.md B5 rows 54 and 55)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.errors import PolicyDenied
from truepenny.system.scope import MAX_COMPONENT, UserScope, check_component


@pytest.mark.parametrize(
    "bad",
    [
        "",
        ".",
        "..",
        "a/b",
        "/etc",
        "a\\b",
        "a\0b",
        "a\nb",
        "-rf",
        " a",
        "a ",
        "a.",
        "\u2025",  # two dot leader: becomes `..`
        "．．",
        "a\uff0fb",  # full-width slash
        "ａ",
        "e\u0301",  # not composed
        "a\u200bb",
        "a\u202eb",
        "\ud800",
        "x" * (MAX_COMPONENT + 1),
        "é" * (MAX_COMPONENT // 2 + 1),
    ],
)
def test_bad_components_are_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(PolicyDenied):
        UserScope(tmp_path).path(bad)
    with pytest.raises(PolicyDenied):
        UserScope(tmp_path).path("alice", bad)


def test_good_ones_are_paths_and_nothing_is_created(tmp_path: Path) -> None:
    scope = UserScope(tmp_path / "users")
    home = tmp_path.resolve() / "users" / "alice@example.com"
    assert scope.path("alice@example.com") == home
    assert scope.path("alice@example.com", "notes", "café-ж.md") == home / "notes" / "café-ж.md"
    assert not (tmp_path / "users").exists()


@given(st.text(max_size=20))
def test_whatever_is_accepted_stays_inside(name: str) -> None:
    root = Path("/nonexistent-root")
    try:
        path = UserScope(root).path("u", name)
    except PolicyDenied:
        return
    assert path.parent == root / "u"
    assert check_component(name) == name


def test_links_out_are_refused_and_links_inside_are_fine(tmp_path: Path) -> None:
    root = tmp_path / "users"
    (root / "alice" / "real").mkdir(parents=True)
    (root / "bob").mkdir()
    (root / "alice" / "inside").symlink_to("real")
    (root / "alice" / "other").symlink_to("../bob")
    (root / "alice" / "dangling").symlink_to("/nowhere/at/all")
    (root / "alice" / "a").symlink_to("b")
    (root / "alice" / "b").symlink_to("a")
    (root / "mallory").symlink_to("alice")
    scope = UserScope(root)
    assert scope.path("alice", "inside", "new") == (root / "alice" / "real" / "new").resolve()
    for parts in (("other",), ("other", "file"), ("dangling",), ("dangling", "x")):
        with pytest.raises(PolicyDenied):
            scope.path("alice", *parts)
    with pytest.raises(PolicyDenied):
        scope.path("mallory")


def test_a_root_behind_a_link_is_the_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    path = UserScope(tmp_path / "root").path("alice", "x")
    assert path == (tmp_path / "real" / "alice" / "x").resolve()
