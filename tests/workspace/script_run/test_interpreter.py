"""Finding an interpreter where a command can reach it."""

from __future__ import annotations

from pathlib import Path

from truepenny.sandbox.roots import FileRoots
from truepenny.workspace.file.access import file_access
from truepenny.workspace.script_run.interpreter import Interpreter, find_interpreter


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(mode)
    return path


def test_the_first_that_a_command_may_read_and_run(tmp_path: Path) -> None:
    program(tmp_path / "private" / "sh")
    program(tmp_path / "plain" / "sh", 0o644)
    (tmp_path / "folder" / "sh").mkdir(parents=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "sh").symlink_to(tmp_path / "private" / "sh")
    good = program(tmp_path / "good" / "sh")
    (tmp_path / "alias").mkdir()
    (tmp_path / "alias" / "sh").symlink_to(good)
    seen = tuple(tmp_path / name for name in ("plain", "folder", "linked", "good", "alias"))
    access = file_access(tmp_path, FileRoots(seen, (), (), ()))

    def find(*folders: str) -> Interpreter:
        path = ":".join(folder and str(tmp_path / folder) for folder in folders)
        return find_interpreter(access, "sh", path)

    assert find("", "none", "private", "plain", "folder", "linked", "alias", "good") == (
        Interpreter(str(tmp_path / "alias" / "sh"), str(good.resolve()))
    )
    assert find("private", "linked") == Interpreter("sh")
    assert find_interpreter(access, "sh", "good:.") == Interpreter("sh")
