"""Working in a folder from the command line: where, how much unasked, and what is left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.world import folder

from .conftest import Account


@pytest.fixture
def root() -> Iterator[Path]:
    with folder() as path:
        path.chmod(0o777)
        yield path


def call(account: Account, *words: str) -> tuple[int, str, str]:
    done = account.run("tool", "call", *words)
    return done.returncode, done.stdout, done.stderr


def test_without_a_folder_its_tools_say_how_to_name_one(account: Account) -> None:
    code, _, error = call(account, "bash", '{"command": "true"}')
    assert code == 2
    assert "--workspace" in error


def test_a_folder_that_is_none_is_a_usage_error(account: Account, root: Path) -> None:
    code, _, error = call(account, "--workspace", str(root / "no"), "bash", '{"command": "true"}')
    assert code == 2
    assert "is no folder" in error


def test_nobody_to_ask_is_a_refusal_that_names_the_level(account: Account, root: Path) -> None:
    code, out, _ = call(account, "--workspace", str(root), "bash", '{"command": "touch x"}')
    assert code == 4
    assert "--autonomy full-auto" in out
    assert not (root / "x").exists()


def test_a_command_runs_held_and_says_by_what(account: Account, root: Path) -> None:
    words = ("--workspace", str(root), "--autonomy", "full-auto", "--json")
    code, out, error = call(account, *words, "bash", '{"command": "echo hi > x; cat x"}')
    found = json.loads(out)
    assert (code, found["outcome"], error) == (0, "success", "")
    assert found["facts"]["sandbox"] in ("bwrap", "landlock")
    assert found["facts"]["containment"]["network"] == "none"
    assert (root / "x").read_text(encoding="utf-8") == "hi\n"


def test_file_tools_change_files_at_the_default_level_and_not_at_read_only(
    account: Account, root: Path
) -> None:
    text = '{"path": "a.txt", "content": "one\\n"}'
    assert call(account, "--workspace", str(root), "write", text)[0] == 0
    assert (root / "a.txt").read_text(encoding="utf-8") == "one\n"
    other = '{"path": "b.txt", "content": "two\\n"}'
    assert call(account, "--workspace", str(root), "--read-only", "write", other)[0] == 4
    assert not (root / "b.txt").exists()
    code, out, _ = call(
        account, "--workspace", str(root), "--read-only", "grep", '{"pattern": "one"}'
    )
    assert code == 0
    assert "a.txt:1:" in out


def test_a_whole_output_can_be_read_by_a_later_call(account: Account, root: Path) -> None:
    words = ("--workspace", str(root), "--autonomy", "full-auto", "--json")
    _, out, _ = call(account, *words, "bash", '{"command": "seq 1 100000"}')
    path = json.loads(out)["facts"]["bytes"]["offload_path"]
    given = json.dumps({"path": path, "offset": 99_999})
    code, out, _ = call(account, "--workspace", str(root), "read", given)
    assert code == 0
    assert "99999\n100000" in out


def test_another_file_of_ours_is_not_read_that_way(account: Account, root: Path) -> None:
    secret = account.home / "secret.txt"
    secret.write_text("do not show", encoding="utf-8")
    given = json.dumps({"path": str(secret)})
    code, out, _ = call(account, "--workspace", str(root), "read", given)
    assert code == 4
    assert "do not show" not in out
