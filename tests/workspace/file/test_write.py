"""A write is all or nothing, at the place that was checked, and says whether it will last."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.privilege import without_privilege
from truepenny.system import atomic
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result
from truepenny.workspace.file import replace as replacing
from truepenny.workspace.file import write as module
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.write import write

from .world import access


def run(root: Path, path: str = "f", content: str = "new\n", **roots: Any) -> Result:
    try:
        return write(access(root, **roots), {"path": path, "content": content})
    except FileFault as fault:
        return fault.result()


def names(root: Path) -> list[str]:
    return sorted(entry.name for entry in root.iterdir())


def test_a_new_file_with_its_parents(tmp_path: Path) -> None:
    result = run(tmp_path, "a/b/f", "one\ntwo\n")
    assert (tmp_path / "a/b/f").read_bytes() == b"one\ntwo\n"
    detail = result.facts.detail
    assert (detail["created"], detail["bytes"], detail["made_directories"]) == (True, 8, 2)
    assert (detail["durable"], detail["before"], detail["after"]["bytes"]) == (True, None, 8)
    assert names(tmp_path / "a/b") == ["f"]
    old = os.umask(0o027)
    try:
        run(tmp_path, "masked")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "masked").stat().st_mode) == 0o640


def test_an_old_file_keeps_its_mode_and_shows_the_difference(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old\nsame\n")
    (tmp_path / "f").chmod(0o755)
    result = run(tmp_path, content="new\nsame\n")
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o755
    assert result.facts.detail["diff"] == "@@ -1,2 +1,2 @@\n-old\n+new\n same\n"
    assert result.facts.detail["first_changed_line"] == 1
    assert result.facts.detail["before"] != result.facts.detail["after"]


def test_a_link_stays_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o755)
    (tmp_path / "f").symlink_to("real")
    (tmp_path / "dangling").symlink_to("made")
    assert run(tmp_path).facts.detail["linked"] is True
    run(tmp_path, "dangling")
    assert (tmp_path / "f").is_symlink()
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "real").read_bytes() == (tmp_path / "made").read_bytes() == b"new\n"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o755


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "folder").symlink_to(outside)
    (inside / "file").symlink_to(outside / "new")
    for path in ("folder/x", "folder/deep/x", "file", "../out/x"):
        assert run(inside, path).facts.reason == "outside_roots"
    assert names(outside) == []


@pytest.mark.parametrize("kind", ["directory", "pipe", "parent", "none"])
def test_what_is_no_place_for_a_file(tmp_path: Path, kind: str) -> None:
    path = "f"
    if kind == "directory":
        (tmp_path / "f").mkdir()
    elif kind == "pipe":
        os.mkfifo(tmp_path / "f")
    elif kind == "parent":
        (tmp_path / "f").write_bytes(b"")
        path = "f/x"
    else:
        path = ""
    result = run(tmp_path, path)
    assert result.outcome in (Outcome.INVALID_ARGUMENTS, Outcome.REFUSED)
    assert result.facts.completeness.reason == "nothing ran"


def test_a_failure_before_the_rename_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(b"old")

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "write", full)
    result = run(tmp_path)
    monkeypatch.undo()
    assert (result.outcome, result.facts.reason) == (Outcome.TARGET_FAILED, "disk_full")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_a_failure_after_the_rename_is_success_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def refuse_directories(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(handle)

    monkeypatch.setattr(atomic.os, "fsync", refuse_directories)
    result = run(tmp_path)
    assert result.outcome is Outcome.SUCCESS
    assert result.facts.detail["durable"] is False
    assert "power cut" in result.facts.hint
    assert (tmp_path / "f").read_bytes() == b"new\n"


def opened(tmp_path: Path) -> None:
    """Let everybody come to a folder of pytest's, which is closed to others."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)


def test_no_permission_is_the_systems_answer(tmp_path: Path) -> None:
    opened(tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o555)
    with without_privilege():
        result = run(kept)
    assert (result.outcome, result.facts.reason) == (Outcome.TARGET_FAILED, "no_permission")


def test_a_file_without_the_right_to_write_is_not_replaced(tmp_path: Path) -> None:
    opened(tmp_path)
    tmp_path.chmod(0o777)
    (tmp_path / "f").write_bytes(b"kept")
    (tmp_path / "f").chmod(0o444)
    with without_privilege():
        result = run(tmp_path)
    assert (result.facts.reason, "0444" in result.text) == ("no_permission", True)
    assert (tmp_path / "f").read_bytes() == b"kept"


def test_one_who_writes_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(b"old")
    real = replacing.publish_at

    def meddle(*given: Any, **named: Any) -> str:
        (tmp_path / "f").write_bytes(b"theirs, longer")
        return real(*given, **named)

    monkeypatch.setattr(replacing, "publish_at", meddle)
    assert run(tmp_path).facts.reason == "changed_meanwhile"
    assert (tmp_path / "f").read_bytes() == b"theirs, longer"
    assert names(tmp_path) == ["f"]


def test_writers_of_one_file_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0")
    (tmp_path / "g").symlink_to("f")
    results: list[Result] = []

    def many(number: int) -> None:
        for turn in range(10):
            results.append(run(tmp_path, "fg"[number % 2], f"{number} {turn} " * 1000))

    threads = [threading.Thread(target=many, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {result.outcome for result in results} == {Outcome.SUCCESS}
    assert len(set((tmp_path / "f").read_text(encoding="utf-8").split())) <= 2
    assert names(tmp_path) == ["f", "g"]


def test_no_diff_is_said_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * (1024 * 1024 + 1))
    assert "larger" in run(tmp_path).facts.detail["diff_skipped"]
    (tmp_path / "f").write_bytes(b"\xff")
    assert "not UTF-8 (offset 0)" in run(tmp_path).facts.detail["diff_skipped"]
    (tmp_path / "f").write_text("".join(f"{n}\n" for n in range(5000)), encoding="utf-8")
    many = run(tmp_path, content="".join(f"-{n}\n" for n in range(5000)))
    assert "10000 lines" in many.facts.detail["diff_skipped"]
    assert "same" in run(tmp_path, content="".join(f"-{n}\n" for n in range(5000))).text


def test_a_lost_line_break_at_the_end_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\n")
    assert "line break" in run(tmp_path, content="b").facts.hint


def test_content_that_is_no_text_or_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, content="a\udc80").facts.reason == "content"
    monkeypatch.setattr(module, "CONTENT_BYTES", 3)
    assert run(tmp_path, content="€€").facts.reason == "content"
    assert names(tmp_path) == []


def test_what_root_makes_belongs_to_the_folders_owner(tmp_path: Path) -> None:
    owner = (os.geteuid(), os.getegid())
    if os.geteuid() == 0:
        owner = (12345, 12346)
        os.chown(tmp_path, *owner)
    run(tmp_path, "a/f")
    for path in (tmp_path / "a", tmp_path / "a/f"):
        assert (path.stat().st_uid, path.stat().st_gid) == owner
