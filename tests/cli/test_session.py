"""`session` on files that somebody damaged or made up: said so, and never a traceback or a hang."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .conftest import Account

HEADER = (
    b'{"type":"session","ts":"2026-01-02T03:04:05Z","turn":"","v":1,"session":"s","user":"eve"}\n'
)
STRANGE = b"".join(
    json.dumps(record).encode() + b"\n"
    for record in (
        {"type": "turn", "a": [[[]]]},
        {"type": "message", "role": "user", "content": [{"type": "text", "text": 5}, 7, None]},
        {"type": "message", "role": "assistant", "usage": {"cost": {"amount": True}}},
        {"type": "result", "call": [1], "tool": {}, "content": "x"},
        {"type": "stop", "kind": {}, "message": [1], "ledger": {"rows": -7, "hash": "x"}},
        {"type": 5},
    )
)


def planted(account: Account, name: str, content: bytes) -> Path:
    """Put a transcript where this user's sessions are, beside a session of theirs."""
    [mine] = list((account.tree / "state" / "sessions").iterdir())
    folder = mine / name
    folder.mkdir()
    (folder / "transcript.jsonl").write_bytes(content)
    (folder / "ledger.jsonl").touch()
    return folder


@pytest.fixture
def used(account: Account) -> Account:
    """An account with one session."""
    account.use_dead_cluster()
    account.run("run", "hello")
    return account


@pytest.mark.parametrize(
    "content",
    [b"", os.urandom(3000), b'{"type":"turn"}\n', b'{"type":"session","v":99}\n'],
    ids=["empty", "binary", "headless", "newer"],
)
def test_of_an_unreadable_transcript_nothing_is_claimed(used: Account, content: bytes) -> None:
    planted(used, "odd", content)
    for command in (["tail"], ["stats"], ["stats", "--json"]):
        done = used.run("session", *command, "odd")
        assert done.returncode == 1 and done.stdout == ""
        assert "unreadable" in done.stderr
    shown = used.run("session", "show", "odd", "--json")
    assert shown.returncode == 1 and json.loads(shown.stdout)["readable"] is False
    rows = {row["id"]: row for row in used.json("session", "list", "--json")["sessions"]}
    assert rows["odd"]["readable"] is False and len(rows) == 2


def test_strange_records_are_shown_or_counted(used: Account) -> None:
    planted(used, "odd", HEADER + STRANGE)
    assert used.run("session", "show", "odd").returncode == 1  # The recorded head is impossible.
    assert json.loads(used.run("session", "show", "odd", "--json").stdout)["malformed"] == 1
    assert "1 malformed" in used.run("session", "tail", "odd").stderr
    assert used.json("session", "stats", "odd", "--json")["malformed"] == 1


def test_a_pipe_or_a_link_in_place_of_a_file_is_not_read(used: Account) -> None:
    pipe, link = planted(used, "pipe", b""), planted(used, "link", b"")
    (pipe / "transcript.jsonl").unlink()
    os.mkfifo(pipe / "transcript.jsonl")
    (link / "transcript.jsonl").unlink()
    (link / "transcript.jsonl").symlink_to("/etc/passwd")
    for name in ("pipe", "link"):
        for command in ("show", "tail", "stats"):
            done = used.run("session", command, name)
            assert done.returncode == 5 and done.stdout == ""
        assert used.run("run", "go on", "--session", name).returncode == 5
    assert used.run("session", "list").returncode == 0
    whole = planted(used, "whole", HEADER)
    (whole / "ledger.jsonl").unlink()
    os.mkfifo(whole / "ledger.jsonl")
    shown = used.run("session", "show", "whole", "--json")
    assert json.loads(shown.stdout)["ledger"]["intact"] is None
