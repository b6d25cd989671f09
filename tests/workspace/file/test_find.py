"""A search for names says what it left out, and nothing found means no such name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.privilege import without_privilege
from truepenny.system.clock import Clock, ManualClock
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result
from truepenny.workspace.file import tree
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.find import find
from truepenny.workspace.file.work import Stop, Stopped

from .world import access


def run(root: Path, pattern: str = "*", clock: Clock | None = None, **arguments: Any) -> Result:
    roots = arguments.pop("roots", {})
    try:
        given = {"pattern": pattern, **arguments}
        return find(access(root, **roots), given, clock or ManualClock(), Stop())
    except FileFault as fault:
        return fault.result()


def put(root: Path, *names: str) -> None:
    for at, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        os.utime(path, (at, at))


def test_newest_first_or_by_path(tmp_path: Path) -> None:
    put(tmp_path, "b.py", "c.py", "d/a.py", ".hidden.py", "x.txt")
    result = run(tmp_path, "*.py")
    assert result.text.split() == [".hidden.py", "d/a.py", "c.py", "b.py"]
    assert run(tmp_path, "*.py", order="path").text.split() == [
        ".hidden.py", "b.py", "c.py", "d/a.py",
    ]  # fmt: skip
    detail = result.facts.detail
    assert (detail["matches"], detail["hidden"]) == (4, 1)
    assert result.facts.completeness.state == "complete"


def test_a_limit_says_how_many_there_are(tmp_path: Path) -> None:
    put(tmp_path, *(f"f{n}" for n in range(10)))
    result = run(tmp_path, "f*", limit=3)
    assert result.text.split() == ["f9", "f8", "f7"]
    whole = result.facts.completeness
    assert (whole.state, whole.shown, whole.total) == ("partial", 3, 10)
    put(tmp_path, *(f"{'long' * 20}{n}" for n in range(300)))
    many = run(tmp_path, "long*")
    assert len(many.text.encode()) <= 8192
    assert many.facts.completeness.total == 300


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    put(tmp_path, ".git/x", "node_modules/x", "d/.venv/x", "x")
    result = run(tmp_path, "x")
    assert result.text.split() == ["x"]
    skipped = result.facts.detail["search"]["skipped"]
    assert skipped["generated"] == {"count": 2, "samples": ["d/.venv", "node_modules"]}
    assert skipped["version control"]["samples"] == [".git"]
    assert "2 generated" in result.facts.hint
    lifted = run(tmp_path, "x", include_ignored=True)
    assert sorted(lifted.text.split()) == ["d/.venv/x", "node_modules/x", "x"]
    assert run(tmp_path, "x", path="node_modules").text.split() == ["x"]


def test_links_are_shown_and_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "out/x", "in/y")
    (tmp_path / "in" / "link").symlink_to("../out")
    (tmp_path / "in" / "loop").symlink_to(".")
    result = run(tmp_path, path="in", order="path")
    assert result.text.split() == ["link@", "loop@", "y"]
    assert result.facts.detail["links"] == 2


def test_nothing_found_is_an_answer_only_when_all_was_seen(tmp_path: Path) -> None:
    put(tmp_path, "a", "closed/b")
    tmp_path.chmod(0o755)
    complete = run(tmp_path, "none")
    assert (complete.outcome, complete.facts.completeness.state) == (Outcome.NO_MATCH, "complete")
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    (tmp_path / "closed").chmod(0)
    with without_privilege():
        partial = run(tmp_path, "none")
    (tmp_path / "closed").chmod(0o755)
    assert (partial.outcome, partial.facts.completeness.state) == (Outcome.TRUNCATED, "partial")
    assert partial.facts.detail["search"]["skipped"]["unreadable"]["samples"] == ["closed"]
    assert partial.text != complete.text


class Late(ManualClock):
    """A clock on which each look costs a minute."""

    def monotonic(self) -> float:
        self.advance(60)
        return super().monotonic()


def test_time_is_up_keeps_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "CHECK_EVERY", 4)
    put(tmp_path, "a1", "a2", "a3", "a4", "a5", "a6")
    result = run(tmp_path, "*", Late())
    assert result.facts.detail["search"]["reason"] == "timeout"
    assert result.facts.completeness.total is None
    empty = run(tmp_path, "none", Late())
    assert (empty.outcome, empty.facts.cause) == (Outcome.INTERRUPTED, "timeout")


def test_denied_places_are_skipped_and_told(tmp_path: Path) -> None:
    put(tmp_path, "a/x", "b/x")
    hidden = (tmp_path / "b",)
    result = run(tmp_path, "x", roots={"hidden": hidden})
    assert result.text.split() == ["a/x"]
    assert result.facts.detail["search"]["skipped"]["denied"]["count"] == 1
    assert run(tmp_path, "x", path="b", roots={"hidden": hidden}).facts.reason == "denied"


def test_names_that_are_no_text_or_pose_as_lines_are_shown_as_one(tmp_path: Path) -> None:
    (tmp_path / "a\nb").write_bytes(b"")
    (tmp_path / os.fsdecode(b"c\xff\x1b[31m")).write_bytes(b"")
    shown = run(tmp_path, order="path").text
    assert shown.splitlines() == ["a\\nb", "c\\udcff"]


def test_a_deep_tree_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_DEPTH", 2)
    put(tmp_path, "a/b/c/d/e")
    assert run(tmp_path, "e").facts.detail["search"]["skipped"]["too deep"]["samples"] == ["a/b/c"]


def test_a_bad_pattern_or_place_is_said(tmp_path: Path) -> None:
    put(tmp_path, "f")
    assert run(tmp_path, "/").outcome is Outcome.INVALID_ARGUMENTS
    assert run(tmp_path, path="f").facts.reason == "not_a_directory"
    assert run(tmp_path, path="..").facts.reason == "outside_roots"


def test_a_caller_that_is_gone_stops_the_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "CHECK_EVERY", 1)
    put(tmp_path, "a", "b")
    stop = Stop()
    stop.set()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Stopped):
        find(access(tmp_path), {"pattern": "*"}, ManualClock(), stop)
    assert len(os.listdir("/proc/self/fd")) == before
