"""A search of lines says what was searched; what it could not search is never 'nothing found'."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.privilege import without_privilege
from truepenny.text.redact import Redactor
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result
from truepenny.workspace.file import grep as module
from truepenny.workspace.file import ripgrep
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.grep import grep

from .world import access

pytestmark = pytest.mark.anyio


async def run(root: Path, pattern: str, seconds: float = 30, **arguments: Any) -> Result:
    roots = arguments.pop("roots", {})
    given = {"pattern": pattern, **arguments}
    try:
        return await grep(access(root, **roots), given, Redactor(), seconds=seconds)
    except FileFault as fault:
        return fault.result()


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


async def test_lines_with_their_place(tmp_path: Path) -> None:
    put(tmp_path, a="one\ntwo\nthree\n", d__b="two\n", _DOT_env="two=1\n")
    result = await run(tmp_path, "tw.")
    assert result.text == ".env:1: two=1\na:2: two\nd/b:1: two\n"
    assert result.facts.completeness.state == "complete"
    assert result.facts.detail["search"]["searched"] == 3
    around = await run(tmp_path, "two", path="a", context=1)
    assert around.text == "a-1- one\na:2: two\na-3- three\n"


async def test_modes(tmp_path: Path) -> None:
    put(tmp_path, a="x\nx\n", b="y\n", c="x\n")
    assert (await run(tmp_path, "x", mode="files")).text == "a\nc\n"
    assert (await run(tmp_path, "x", mode="count")).text == "a: 2\nc: 1\n"
    assert (await run(tmp_path, "X", ignore_case=True, mode="files")).text == "a\nc\n"
    assert (await run(tmp_path, "x", glob="c")).text == "c:1: x\n"


async def test_patterns_are_patterns_or_text(tmp_path: Path) -> None:
    put(tmp_path, a="f(x)\n--help\n")
    assert (await run(tmp_path, "f(x)", literal=True)).text == "a:1: f(x)\n"
    assert (await run(tmp_path, "--help")).text == "a:2: --help\n"
    for wrong in ("f(", "", "a\0", "a\nb", "x" * 70_000):
        result = await run(tmp_path, wrong)
        assert (result.outcome, result.facts.reason) == (Outcome.INVALID_ARGUMENTS, "pattern")


async def test_nothing_found_is_an_answer_when_all_was_searched(tmp_path: Path) -> None:
    put(tmp_path, a="one\n")
    result = await run(tmp_path, "none")
    assert (result.outcome, result.text) == (Outcome.NO_MATCH, "no line of 1 file matches")
    assert result.facts.exit is not None
    assert (result.facts.exit.observed, result.facts.exit.effective) == (1, 0)


async def test_a_match_in_ignored_files_is_told(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    put(
        tmp_path,
        _DOT_gitignore="*.log\n",
        a="x\n",
        b_DOT_log="needle\n",
        node_modules__m="needle\n",
    )
    result = await run(tmp_path, "needle")
    assert result.outcome is Outcome.NO_MATCH
    search = result.facts.detail["search"]
    assert (search["ignored"], sorted(search["ignored_matches"])) == (
        2,
        ["b.log", "node_modules/m"],
    )
    assert "include_ignored" in result.facts.hint
    lifted = await run(tmp_path, "needle", include_ignored=True)
    assert lifted.text == "b.log:1: needle\nnode_modules/m:1: needle\n"
    other = await run(tmp_path, "x")
    assert "2 files are left out" in other.facts.hint
    assert (await run(tmp_path, "needle", path="node_modules")).text == "m:1: needle\n"


async def test_an_ignore_file_above_the_root_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    put(tmp_path, _DOT_gitignore="*\n", _DOT_ignore="*\n", work__a="x\n")
    assert (await run(tmp_path / "work", "x")).text == "a:1: x\n"


async def test_a_limit_is_partial_and_exact(tmp_path: Path) -> None:
    put(tmp_path, a="x\n" * 50)
    result = await run(tmp_path, "x", limit=10)
    assert result.text.count("\n") == 10
    assert result.facts.detail["search"]["reason"] == "limit"
    assert (await run(tmp_path, "x", limit=50)).facts.completeness.state == "complete"
    put(tmp_path, b=f"{'y' * 400}\n" * 90)
    wide = await run(tmp_path, "y")
    assert len(wide.text.encode()) <= 16 * 1024
    assert wide.facts.completeness.state == "partial"


ROW = (
    '{"type":"match","data":{"path":{"text":"./a"},"lines":{"text":"x\\n"},"line_number":1,'
    '"submatches":[{"match":{"text":"x"},"start":0,"end":1}]}}'
)


@pytest.mark.parametrize("row", ["", ROW])
async def test_time_is_up_is_never_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    """A search program that tells a row, or none, and then goes on for a minute."""
    slow = tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\nprintf '%s\\n' '{row}'\nexec sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setattr(ripgrep, "program", lambda: str(slow))
    result = await run(tmp_path, "x", seconds=0.3)
    assert result.facts.completeness.state == "partial"
    assert result.facts.detail["search"]["reason"] == "timeout"
    assert result.facts.cause == "timeout"
    assert result.outcome is (Outcome.SUCCESS if row else Outcome.INTERRUPTED)
    assert result.text == ("a:1: x\n" if row else "no match was found before the time was up")


async def test_what_may_not_be_read_is_counted(tmp_path: Path) -> None:
    put(tmp_path, a="x\n", kept="needle\n")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    (tmp_path / "kept").chmod(0)
    found = ripgrep.program() or ""
    with without_privilege():
        readable = os.access(found, os.X_OK)
        result = await run(tmp_path, "needle")
    if os.geteuid() == 0 and result.outcome is Outcome.NO_MATCH:
        assert result.facts.detail["search"]["searched"] == 2  # its own rights were root's
        return
    if not readable:
        assert result.outcome is not Outcome.NO_MATCH
        return
    assert result.outcome is Outcome.TRUNCATED
    assert result.facts.detail["search"]["skipped"]["unreadable"]["samples"] == ["kept"]


async def test_binary_files_are_told_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"needle\0" * 10)
    (tmp_path / "late").write_bytes(b"needle\n" + b"x\n" * 40_000 + b"\0")
    (tmp_path / "other").write_bytes(b"\0\0")
    result = await run(tmp_path, "needle")
    assert "b: binary file matches\n" in result.text
    assert "\0" not in result.text
    assert "b" in result.facts.detail["search"]["binary"]
    assert (await run(tmp_path, "absent")).outcome is Outcome.NO_MATCH


async def test_long_lines_show_the_match_and_secrets_are_masked(tmp_path: Path) -> None:
    put(tmp_path, a="x" * 5000 + "needle" + "y" * 5000 + "\n", b=f"needle ghp_{'a1B2' * 9}\n")
    result = await run(tmp_path, "needle")
    long, secret = result.text.splitlines()
    assert "needle" in long
    assert len(long) < 560
    assert "ghp_" not in secret
    assert sum(result.facts.redactions.values()) == 1


async def test_bytes_that_are_no_text_show_as_such(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"needle \xff\x1b[31m\r\n")
    assert (await run(tmp_path, "needle")).text == "a:1: needle \ufffd\n"


async def test_links_and_denied_places_are_not_searched(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    put(tmp_path, out="needle\n", in__a="x\n", in__kept__a="needle\n")
    (inside / "link").symlink_to("../out")
    result = await run(inside, "needle", roots={"hidden": (inside / "kept",)})
    assert result.outcome is Outcome.NO_MATCH
    assert result.facts.detail["search"]["ignored_matches"] == []
    assert (await run(inside, "x", path="link")).facts.reason == "outside_roots"


async def test_a_flood_of_one_line_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "LINE_BYTES", 100_000)
    put(tmp_path, a="needle" + "x" * 1_000_000 + "\nneedle\n")
    result = await run(tmp_path, "needle")
    assert "a:2: needle\n" in result.text
    assert "too long" in result.facts.completeness.reason


async def test_without_ripgrep_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "program", lambda: None)
    assert (await run(tmp_path, "x")).outcome is Outcome.MISSING_DEPENDENCY
