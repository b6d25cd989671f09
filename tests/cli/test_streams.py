"""Standard streams that are closed, full or of a narrow encoding: a message at most."""

from __future__ import annotations

import pytest

from .conftest import Account

COMMANDS = (
    ("version",),
    ("tool", "list"),
    ("session", "list"),
    ("bogus",),
    ("tool", "call", "--demo", "healthy", "cluster_list"),
)


@pytest.mark.parametrize("closing", [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_stream_is_needed(account: Account, command: tuple[str, ...], closing: str) -> None:
    shell = ("bash", "-c", f'"$@" {closing}', "bash")
    done = account.run(*command, wrap=shell)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    full = closing == ">/dev/full"
    assert done.returncode == (2 if command == ("bogus",) else 5 if full else 0)


def test_closed_streams_take_no_file_of_ours(account: Account) -> None:
    done = account.run(
        "run", "--demo", "healthy", "Is anything wrong?",
        wrap=("bash", "-c", '"$@" <&- >&- 2>&-', "bash"),
    )  # fmt: skip
    assert done.returncode == 0
    shown = account.json("session", "show", "--json")
    assert shown["readable"]
    assert shown["malformed"] == 0
    assert shown["ledger"]["intact"]


def test_a_narrow_encoding_shows_what_it_cannot_print(account: Account) -> None:
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = account.run("run", "--demo", "healthy", "Is größer ✓ healthy?", env=narrow)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert account.run("session", "show", "--calls", env=narrow).returncode == 0


def test_a_full_stderr_does_not_take_the_answer(account: Account) -> None:
    shell = ("bash", "-c", '"$@" 2>/dev/full', "bash")
    done = account.run("run", "--demo", "checkout-oom", "Why is checkout failing?", wrap=shell)
    assert done.returncode == 0
    assert "memory" in done.stdout
