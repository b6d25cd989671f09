"""Working in a folder from the command line: where, how much unasked, and what is left."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.model_script import Call, Reply
from tests.peers.model_server import ModelServer
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
    code, _, error = call(account, "read", '{"path": "x"}')
    assert code == 2
    assert "--workspace" in error


def test_a_folder_that_is_none_is_a_usage_error(account: Account, root: Path) -> None:
    code, _, error = call(account, "--workspace", str(root / "no"), "bash", '{"command": "true"}')
    assert code == 2
    assert f"is no folder\n  Make it (mkdir -p {root}/no)" in error
    (root / "file").touch()
    _, _, error = call(account, "--workspace", str(root / "file"), "bash", '{"command": "true"}')
    assert f"is no folder\n  Name a folder, for example {root}." in error


def test_a_result_ends_with_its_own_last_line(account: Account, root: Path) -> None:
    words = ("--workspace", str(root), "--autonomy", "full-auto", "bash")
    for command, end in (
        ("echo x", "\nx\n"),
        ("printf x", "\nx\n"),
        ("printf 'x\\n\\n'", "\nx\n\n"),
    ):
        code, out, _ = call(account, *words, json.dumps({"command": command}))
        assert code == 0
        assert out.endswith(end)
        assert not out.endswith(f"{end}\n")


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


def test_a_call_by_hand_starts_nothing_that_would_end_with_it(account: Account, root: Path) -> None:
    words = ("--workspace", str(root), "--autonomy", "full-auto")
    given = '{"command": "sleep 9; touch x", "background": true}'
    code, out, _ = call(account, *words, "bash", given)
    assert (code, "foreground" in out) == (4, True)


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


def test_an_agent_works_in_the_folder_and_reads_what_held_it(account: Account, root: Path) -> None:
    script = [
        Reply(calls=(Call("bash", {"command": "echo one > a.txt; false | cat"}),)),
        Reply(calls=(Call("edit", {"path": "a.txt", "old_text": "one", "new_text": "two"}),)),
        Reply(calls=(Call("bash", {"command": "echo ready; sleep 60", "background": True}),)),
        Reply(text="done"),
    ]
    with ModelServer(script) as server:
        account.use_server(server)
        words = ("--workspace", str(root), "--autonomy", "full-auto")
        done = account.run("run", *words, "Fix it.")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert (root / "a.txt").read_text(encoding="utf-8") == "two\n"
    told = str(server.requests[1].body["messages"][-1]["content"])
    assert "outcome upstream_failed | exit 1 | stages 1,0 | sandbox" in told
    assert "limits" in told
    assert str(root) in str(server.requests[0].body["messages"][0]["content"])
    ledger = account.run("session", "show")
    assert "unbroken" in ledger.stdout


def test_nobody_there_means_no_command_of_an_agent_either(account: Account, root: Path) -> None:
    script = [Reply(calls=(Call("bash", {"command": "touch x"}),)), Reply(text="refused")]
    with ModelServer(script) as server:
        account.use_server(server)
        done = account.run("run", "--workspace", str(root), "Do it.")
    assert done.returncode == 0
    assert not (root / "x").exists()
    assert "nobody_to_ask" in str(server.requests[1].body["messages"][-1]["content"])


def test_a_person_at_the_terminal_is_asked_and_obeyed(account: Account, root: Path) -> None:
    words = ("tool", "call", "--workspace", str(root), "bash", '{"command": "touch x"}')
    shown = at_terminal(account, words, b"n\n")
    assert b"touch x" in shown
    assert f"in: {root}".encode() in shown
    assert not (root / "x").exists()
    at_terminal(account, words, b"y\n")
    assert (root / "x").exists()


def at_terminal(account: Account, words: tuple[str, ...], typed: bytes) -> bytes:
    """Run a command whose terminal a person sits at, who answers when asked and has typed a yes
    too early; return what it showed."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"y\n")
        process = subprocess.Popen(
            account.argv(words),
            cwd=account.home,
            env=account.env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        # A terminal whose other end is closed answers with an error, not with nothing.
        with contextlib.suppress(OSError):
            while data := os.read(ours, 65536):
                asked = b"[y/N]" in shown
                shown += data
                if b"[y/N]" in shown and not asked:
                    os.write(ours, typed)
        process.wait(30)
        return shown
    finally:
        os.close(ours)


def test_what_never_looks_into_a_folder_says_so(account: Account, root: Path) -> None:
    done = account.run("run", "--workspace", str(root), "What is here?")
    assert done.returncode == 0
    assert "never into a folder: name another with --model" in done.stderr
    assert "never into a folder" not in account.run("run", "Why is checkout failing?").stderr


@pytest.mark.parametrize(
    "settings",
    ['account = "no-such-account"', 'read_paths = ["relative"]', 'read_paths = ["/"]'],
)
@pytest.mark.parametrize("tool", ["bash", "write"])
def test_a_wrong_setting_is_one_before_anything_runs(
    account: Account, root: Path, settings: str, tool: str
) -> None:
    account.configure(f"[sandbox]\n{settings}\n")
    arguments = '{"command": "true"}' if tool == "bash" else '{"path": "a", "content": "b"}'
    code, out, err = call(
        account, "--workspace", str(root), "--autonomy", "full-auto", tool, arguments
    )
    assert (code, out) == (3, "")
    assert f"sandbox.{settings.partition(' ')[0]}" in err


def test_a_wrong_setting_leaves_no_session(account: Account, root: Path) -> None:
    account.configure('[sandbox]\naccount = "no-such-account"\n')
    assert account.run("run", "--workspace", str(root), "What is here?").returncode == 3
    assert json.loads(account.run("session", "list", "--json").stdout)["sessions"] == []


def test_a_folder_that_must_stay_closed_runs_nothing(account: Account) -> None:
    code, out, err = call(account, "--workspace", "/etc", "bash", '{"command": "true"}')
    assert (code, out, "belongs to the system" in err) == (3, "", True)


def test_a_path_that_is_not_there_is_said_once(account: Account, root: Path) -> None:
    account.configure('[sandbox]\nread_paths = ["/no/such/data"]\n')
    words = ("--workspace", str(root), "--autonomy", "full-auto", "bash", '{"command": "true"}')
    code, _, err = call(account, *words)
    assert (code, err.count("/no/such/data is not there")) == (0, 1)
