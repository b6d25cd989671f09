from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

from .conftest import Account

SERVER = shlex.join((sys.executable, str(Path(__file__).parents[1] / "conformance" / "server.py")))


def test_cases_are_listed_and_run(account: Account, tmp_path: Path) -> None:
    listed = account.run("conformance", "--list", "--json", "--category", "nul")
    cases = json.loads(listed.stdout)["cases"]
    assert {case["category"] for case in cases} == {"nul"}
    path = tmp_path / "report.json"
    words = ("--case", "exit-42", "--case", "pipe-first-fails", "--output", str(path))
    done = account.run("conformance", *words)
    assert done.returncode == 0, done.stdout
    assert "CATEGORY" in done.stdout
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["conforms"] is True
    assert [trial["verdict"] for trial in report["trials"]] == ["passed", "passed"]


def test_the_variables_are_in_the_environment_of_the_process_itself(account: Account) -> None:
    # In the tests of the package they are not, so there this case could not fail.
    done = account.run("conformance", "--case", "environment-parent", "--level", "auto")
    assert done.returncode == 0, done.stdout
    held = os.geteuid() == 0  # Then commands run as another account, whatever holds them.
    open_to_it = account.run("conformance", "--case", "environment-parent", "--level", "none")
    assert open_to_it.returncode == (0 if held else 1)


def test_a_server_that_fails_a_case_ends_with_1(account: Account) -> None:
    words = ("--case", "exit-42", "--case", "pipe-first-fails", "--server", SERVER)
    done = account.run("conformance", *words, "--json")
    assert done.returncode == 1
    assert [one["verdict"] for one in json.loads(done.stdout)["trials"]] == ["passed", "failed"]


def test_what_cannot_be_tried_is_told(account: Account) -> None:
    assert account.run("conformance", "--server", "true", "--case", "exit-0").returncode == 5
    assert account.run("conformance", "--tool", "mcp").returncode == 2
    assert account.run("conformance", "--tool", "native", "--server", "x").returncode == 2
    assert account.run("conformance", "--server", "'").returncode == 2
    assert account.run("conformance", "--case", "no-such").returncode == 3


def test_cases_that_a_tool_should_pass_count_where_only_they_were_chosen(account: Account) -> None:
    done = account.run("conformance", "--case", "environment-descriptors")
    assert (done.returncode, "says nothing of conformance" in done.stderr) == (1, True)
    done = account.run("conformance", "--case", "environment-descriptors", "--case", "exit-0")
    assert (done.returncode, "says nothing" in done.stderr) == (0, False)
