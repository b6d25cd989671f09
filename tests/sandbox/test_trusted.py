from __future__ import annotations

import os
from pathlib import Path

import pytest

from truepenny.sandbox import trusted


def test_a_system_program_is_found() -> None:
    assert trusted.find("sh") in ("/usr/bin/sh", "/bin/sh")


def test_path_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "planted"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trusted.find("planted") is None


@pytest.mark.parametrize(("mode", "found"), [(0o755, True), (0o775, False), (0o757, False)])
def test_one_that_others_may_write_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, found: bool
) -> None:
    program = tmp_path / "program"
    program.touch()
    program.chmod(mode)
    monkeypatch.setattr(trusted, "FOLDERS", (str(tmp_path),))
    assert trusted.find("program") == (str(program) if found else None)


def test_one_of_another_account_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.touch(mode=0o755)
    monkeypatch.setattr(trusted, "FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(os, "geteuid", lambda: program.stat().st_uid + 1)
    assert trusted.find("program") == (str(program) if program.stat().st_uid == 0 else None)
