"""The policy as a command of its own."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Account


def test_what_is_allowed_is_exit_0_and_names_its_programs(account: Account) -> None:
    done = account.run("command", "check", "--context", "node", "ss -tln | head -5")
    assert (done.returncode, done.stdout, done.stderr) == (0, "allowed: ss, head\n", "")


def test_what_is_refused_is_exit_4_with_a_line_that_passes(account: Account) -> None:
    done = account.run("command", "check", "--context", "host", "--json", "find / -delete")
    found = json.loads(done.stdout)
    assert (done.returncode, found["allowed"], found["matched"]) == (4, False, "-delete")
    again = account.run("command", "check", "--context", "host", found["hint"])
    assert again.returncode == 0


def test_a_batch_is_one_object_a_line_whatever_comes(account: Account) -> None:
    lines = b"ls\n\nrm -rf /\n\xff\xfe\n" + b"x" * 300_000 + b"\nps\n"
    done = account.run("command", "check", "--context", "node", "--batch", stdin=lines)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 4
    assert [one["allowed"] for one in found] == [True, False, False, False, True]
    assert found[3]["rejected_by"] == "too_long"
    fine = account.run("command", "check", "--context", "node", "--batch", stdin=b"ls\n")
    assert fine.returncode == 0


def test_a_context_that_is_not_there_and_no_line_are_usage(account: Account) -> None:
    assert account.run("command", "check", "--context", "moon", "ls").returncode == 2
    assert account.run("command", "check", "--context", "node").returncode == 2
    assert account.run("command", "check", "ls").returncode == 2


def test_a_site_file_that_is_broken_or_gone_is_exit_3(account: Account, tmp_path: Path) -> None:
    gone = account.run(
        "command", "check", "--context", "node", "--site", str(tmp_path / "no.toml"), "ls"
    )
    assert (gone.returncode, "no.toml" in gone.stderr) == (3, True)
    broken = tmp_path / "broken.toml"
    broken.write_text("version = 9\n", encoding="utf-8")
    done = account.run("command", "check", "--context", "node", "--site", str(broken), "ls")
    assert (done.returncode, "broken.toml" in done.stderr) == (3, True)
