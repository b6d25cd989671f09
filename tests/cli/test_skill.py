"""Skills at the command line: what is shipped, and what a check says of one's own."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Account

HEAD = "---\nname: one\ndescription: What it is for.\n"


def folder(root: Path, head: str) -> Path:
    made = root / "one"
    made.mkdir()
    (made / "SKILL.md").write_text(f"{head}---\nThe body.\n", encoding="utf-8")
    return made


def test_the_shipped_skills_are_listed(account: Account) -> None:
    done = account.run("skill", "list", "--json")
    assert done.returncode == 0, done.stderr
    names = [one["name"] for one in json.loads(done.stdout)["skills"]]
    assert "pod-pending-debug" in names


def test_a_skill_is_shown(account: Account) -> None:
    done = account.run("skill", "show", "volcano-queue-diagnose")
    assert done.returncode == 0, done.stderr
    assert "Arguments: " in done.stdout


def test_an_unknown_skill_is_a_wrong_use(account: Account) -> None:
    done = account.run("skill", "show", "moon")
    assert (done.returncode, "truepenny skill list" in done.stderr) == (2, True)


def test_a_good_folder_passes_with_its_warnings(account: Account, tmp_path: Path) -> None:
    done = account.run("skill", "check", str(folder(tmp_path, HEAD + "colour: red\n")))
    assert (done.returncode, done.stdout) == (0, "one: keeps the format, 0 scripts\n")
    assert "colour: nothing reads this key" in done.stderr


def test_a_broken_folder_is_refused_by_field(account: Account, tmp_path: Path) -> None:
    done = account.run("skill", "check", str(folder(tmp_path, "---\nname: one\n")))
    assert (done.returncode, "description: missing" in done.stderr) == (3, True)
