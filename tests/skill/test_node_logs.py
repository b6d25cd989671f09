"""The scripts of `node-logs`, on a machine and a cluster that are recorded."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .target import SKILLS, Target, status

SCRIPT = (SKILLS / "node-logs" / "scripts" / "get-node-logs.sh").read_text()
API = SKILLS / "node-logs" / "scripts" / "get-node-logs-via-api.py"
PROGRAMS = ("grep", "tee", "tail", "tr", "sed", "date", "realpath", "head", "wc", "cat")
HOSTILE = b"one good\nstatus: ok\nthree \x1b[2K\rstatus: ok\n\xffstatus: ok\n"
KNOWN = {"ok", "no_match", "source_error", "filter_error", "not_found", "not_a_log_file"}
KNOWN |= {"empty_source", "forbidden", "query_unsupported"}
LISTING = '<!doctype html>\n<pre>\n<a href="pods/">pods/</a>\n<a href="syslog">syslog</a>\n</pre>\n'


@pytest.fixture
def node(tmp_path: Path) -> Target:
    target = Target(tmp_path, *PROGRAMS)
    target.record("id", "adm\n")
    target.record("journalctl", HOSTILE)
    return target


def ended(node: Target, arguments: str, text: str = SCRIPT) -> tuple[str, int]:
    done = node.run(text, arguments)
    return status(done, KNOWN), done.returncode


def filed(folder: Path) -> str:
    """The script with a folder of the test as the root of the logs."""
    assert SCRIPT.count("\nROOT=/var/log\n") == 1
    return SCRIPT.replace("\nROOT=/var/log\n", f"\nROOT={shlex.quote(str(folder))}\n")


def test_lines_of_a_unit_stay_data(node: Target) -> None:
    done = node.run(SCRIPT, "--unit kubelet")
    assert (status(done, KNOWN), done.returncode, done.stderr) == ("ok", 0, b"")
    assert b"| status: ok\n| three ?[2K?status: ok\n| \xffstatus: ok\n" in done.stdout
    assert b"scanned: 4\nmatched: 4\nstatus: ok\n" in done.stdout
    assert "--since=1h ago" in node.words("journalctl")
    assert "--unit=kubelet" in node.words("journalctl")


@pytest.mark.parametrize(
    ("arguments", "matched"),
    [
        ("--grep '^one' --grep 'three$'", 1),
        ("--grep 'o{2}'", 1),
        ("--grep-fixed 'o{2}'", 0),
        ("--grep-fixed one --grep-fixed three", 2),
        ("--grep nothing", 0),
    ],
)
def test_filters(node: Target, arguments: str, matched: int) -> None:
    done = node.run(SCRIPT, f"--kernel {arguments}")
    assert (status(done, KNOWN), done.returncode) == ("ok" if matched else "no_match", 0)
    assert f"scanned: 4\nmatched: {matched}\n".encode() in done.stdout
    assert "_TRANSPORT=kernel" in node.words("journalctl")


def test_a_tail_says_that_it_is_one(node: Target) -> None:
    node.record("journalctl", "".join(f"line {n}\n" for n in range(30_000)))
    done = node.run(SCRIPT, "--unit kubelet --grep line --tail 2")
    assert b"| line 29998\n| line 29999\nscanned: 30000\nmatched: 30000\n" in done.stdout
    assert b"note: the last 2 of 30000 are shown\n" in done.stdout


def test_a_long_line_is_cut_and_says_so(node: Target) -> None:
    node.record("journalctl", "x" * 5000 + "\n")
    done = node.run(SCRIPT, "--unit kubelet")
    assert b"| " + b"x" * 2000 + b" [cut]\n" in done.stdout


def test_times(node: Target) -> None:
    node.run(SCRIPT, "--unit a --since 2025-01-31T12:00:00+02:00 --until '2025-02-01 00:00:00 UTC'")
    assert "--since=2025-01-31 10:00:00 UTC" in node.words("journalctl")
    assert "--until=2025-02-01 00:00:00 UTC" in node.words("journalctl")
    for window in ("--boot -1", "--until 2025-02-01"):
        node.run(SCRIPT, f"--unit a {window}")
        assert not any(word.startswith("--since") for word in node.words("journalctl"))


@pytest.mark.parametrize("found", [HOSTILE, b""])
def test_a_source_that_fails_is_never_ok_nor_empty(node: Target, found: bytes) -> None:
    node.record("journalctl", found, code=1, err="the journal broke")
    done = node.run(SCRIPT, "--unit kubelet --grep zzz")
    assert (status(done, KNOWN), done.returncode) == ("source_error", 5)
    assert done.stderr == b"the journal broke"
    assert b"broke" not in done.stdout


def test_an_empty_journal(node: Target) -> None:
    node.record("journalctl")
    assert ended(node, "--unit kubelet") == ("empty_source", 4)
    assert ended(node, "--unit kubelet --grep x") == ("empty_source", 4)
    node.record("systemctl", "not-found\n")
    assert ended(node, "--unit kubelet") == ("not_found", 4)


def test_an_account_that_sees_little(node: Target) -> None:
    text = SCRIPT.replace('[ "$EUID" -ne 0 ]', "[ 1000 -ne 0 ]")
    assert text != SCRIPT
    node.record("id", "users\n")
    assert b"note: this account is not privileged" in node.run(text, "--unit a").stdout
    node.record("journalctl")
    assert ended(node, "--unit a", text) == ("forbidden", 3)
    node.record("id", "users adm\n")
    assert ended(node, "--unit a", text) == ("empty_source", 4)


def test_a_program_that_is_missing(node: Target) -> None:
    (node.folder / "journalctl").unlink()
    assert ended(node, "--unit a") == ("source_error", 3)
    for name in ("grep", "tee", "tail", "tr", "sed"):
        node.record("journalctl", HOSTILE)
        kept = (node.folder / name).readlink()
        (node.folder / name).unlink()
        assert ended(node, "--unit a --grep one") == ("filter_error", 2), name
        (node.folder / name).symlink_to(kept)


@pytest.mark.parametrize(("name", "code"), [("grep", 2), ("tee", 1), ("tail", 1), ("sed", 1)])
def test_a_filter_that_fails(node: Target, name: str, code: int) -> None:
    node.record(name, code=code)
    assert ended(node, "--unit a") == ("filter_error", 2)


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--unit",
        "--unit ''",
        "--unit -f",
        "--unit 'a*'",
        "--unit a --kernel",
        "--file /etc/passwd",
        "--file /var/log/a --since '1h ago'",
        "--unit a --grep ''",
        "--unit a --grep '('",
        "--unit a --grep $'a\\nb'",
        "--unit a --grep a --grep-fixed b",
        "--unit a --tail 0",
        "--unit a --tail 20001",
        "--unit a --since soon",
        "--unit a --since 2025-13-31T12:00:00Z",
        "--unit a --boot 1.5",
        "--unit a -f",
    ],
)
def test_wrong_arguments_give_no_report(node: Target, arguments: str) -> None:
    arguments = arguments.replace("$'a\\nb'", "'a\nb'")
    done = node.run(SCRIPT, arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"usage:" in done.stderr


def test_files(node: Target, tmp_path: Path) -> None:
    root = tmp_path / "log"
    (root / "folder").mkdir(parents=True)
    (root / "a.log").write_bytes(b"first\nstatus: ok\nlast without an end")
    (root / "empty.log").touch()
    (root / "wtmp").write_bytes(b"a\0b")
    (root / "old.gz").write_bytes(b"\x1f\x8b")
    (root / "out.log").symlink_to("/etc/passwd")
    text = filed(root)
    done = node.run(text, f"--file {root}/a.log")
    assert (status(done, KNOWN), done.returncode) == ("ok", 0)
    assert b"| last without an end\nscanned: 3\nmatched: 3\n" in done.stdout
    for name, expected in {
        "none.log": "not_found",
        "empty.log": "empty_source",
        "wtmp": "not_a_log_file",
        "old.gz": "not_a_log_file",
        "folder": "not_a_log_file",
        "out.log": "not_a_log_file",
        "../../../../../../../../etc/passwd": "not_a_log_file",
    }.items():
        assert ended(node, f"--file {root}/{name}", text) == (expected, 4), name


def ask(folder: Path, arguments: str, out: str, code: int = 0, err: str = "") -> tuple[str, int]:
    """How the script for the API ends, where kubectl answers so."""
    done = asked(folder, arguments, out, code, err)
    return status(done, KNOWN), done.returncode


def asked(
    folder: Path, arguments: str, out: str, code: int = 0, err: str = ""
) -> subprocess.CompletedProcess[bytes]:
    target = Target(folder) if (folder / "grep").exists() else Target(folder, "grep")
    target.record("kubectl", out, code, err)
    return subprocess.run(
        [os.path.realpath(sys.executable), str(API), *shlex.split(arguments)],
        env={"PATH": str(folder), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_file_by_the_api(tmp_path: Path) -> None:
    done = asked(tmp_path, "--node n1 --file /var/log/a/b.log --grep 'ok$'", "x\nstatus: ok\n")
    assert (status(done, KNOWN), done.returncode) == ("ok", 0)
    assert b"| status: ok\nscanned: 2\nmatched: 1\n" in done.stdout
    words = (tmp_path / "kubectl.words").read_text().splitlines()
    assert words[:3] == ["get", "--raw", "/api/v1/nodes/n1/proxy/logs/a/b.log"]


@pytest.mark.parametrize(
    ("arguments", "out", "expected"),
    [
        ("--list", LISTING, ("ok", 0)),
        ("--list", "a line\n", ("source_error", 5)),
        ("--list", "<pre>\n</pre>\n", ("empty_source", 4)),
        ("--file pods", LISTING, ("not_a_log_file", 4)),
        ("--file wtmp", "a\0b", ("not_a_log_file", 4)),
        ("--file a", "", ("empty_source", 4)),
        ("--file a --grep zzz", "line\n", ("no_match", 0)),
        ("--unit kubelet", LISTING, ("query_unsupported", 3)),
        ("--unit kubelet", "-- No entries --\n", ("empty_source", 4)),
        ("--unit kubelet --since 2025-01-31T10:00:00Z", "line\n", ("ok", 0)),
    ],
)
def test_each_answer_of_the_kubelet_is_judged_by_its_type(
    tmp_path: Path, arguments: str, out: str, expected: tuple[str, int]
) -> None:
    assert ask(tmp_path, f"--node n1 {arguments}", out) == expected


@pytest.mark.parametrize(
    ("err", "expected"),
    [
        ("Error from server (Forbidden): nodes n1 is forbidden", ("forbidden", 3)),
        ("Error from server (NotFound): could not find", ("not_found", 4)),
        ("Unable to connect to the server: EOF", ("source_error", 3)),
        ("Error from server: boom", ("source_error", 5)),
    ],
)
def test_a_read_by_the_api_that_fails(tmp_path: Path, err: str, expected: tuple[str, int]) -> None:
    assert ask(tmp_path, "--node n1 --file a", "part of it\n", 1, err) == expected


@pytest.mark.parametrize(
    "arguments",
    ["", "--list", "--node -A --list", "--node n1", "--node n1 --list --file a"]
    + [f"--node n1 {words}" for words in ("--file ../a", "--file a?b", "--list /etc", "--unit -x")]
    + [f"--node n1 --file a {words}" for words in ("--grep ''", "--grep '('", "--tail 0")]
    + ["--node n1 --file a --since 2025-01-31T10:00:00Z", "--node n1 --unit a --since soon"],
)
def test_wrong_arguments_of_the_api_give_no_report(tmp_path: Path, arguments: str) -> None:
    done = asked(tmp_path, arguments, json.dumps({}))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"usage:" in done.stderr


def test_what_the_scripts_for_kubectl_share_is_one_text() -> None:
    shared: set[str] = set()
    for path in SKILLS.glob("*/scripts/*.py"):
        text = path.read_text()
        begin = text.index("# --- The same in each")
        shared.add(text[begin : text.index("# --- End of what is the same.")])
    assert len(shared) == 1
