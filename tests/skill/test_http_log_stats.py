"""The script of `http-log-stats`, with a kubectl of recorded answers."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .target import SKILLS, status

SCRIPT = SKILLS / "http-log-stats" / "scripts" / "http-log-stats.py"
KNOWN = {"ok", "no_match", "source_error", "not_found", "not_a_log_file", "empty_source"}
KNOWN |= {"forbidden", "query_unsupported"}
WINDOW = "--begin 2025-01-31T10:00:00Z --end 2025-01-31T11:00:00Z"
ASKED = f"--namespace web --selector app=proxy {WINDOW}"
PODS = {"items": [{"metadata": {"name": name}, "status": {}} for name in ("p-1", "p-2")]}


def line(
    minute: str, code: int, path: str = "/a?token=x", seconds: str | None = "0.100", zone: str = ""
) -> str:
    """A line of the container's log: its stamp, then the combined form with ingress-nginx's end."""
    rest = f" 90 {seconds} [web-80] [] 10.0.0.9:80 5 {seconds} {code} abc1" if seconds else ""
    return (
        f"2025-01-31T{minute}:30.1Z "
        f"10.1.1.1 - - [31/Jan/2025:{minute}:30 {zone or '+0000'}] "
        f'"GET {path} HTTP/1.1" {code} 5 "-" "agent \\"x\\""{rest}\n'
    )


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(self, *logs: str | tuple[str, int], pods: object = PODS) -> None:
        """kubectl answers `get` with the pods and `logs` by pod; (words, code) is a failure."""
        text = ["#!/bin/bash", 'case "$1 $2" in']
        (self.folder / "pods").write_text(json.dumps(pods))
        text.append(f"  'get pods') /bin/cat {shlex.quote(str(self.folder / 'pods'))};;")
        for number, log in enumerate(logs, 1):
            kept = self.folder / f"log-{number}"
            kept.write_text(log if isinstance(log, str) else log[0])
            end = "" if isinstance(log, str) else f" >&2; exit {log[1]}"
            text.append(f"  'logs p-{number}') /bin/cat {shlex.quote(str(kept))}{end};;")
        program = self.folder / "kubectl"
        program.write_text("\n".join([*text, "  *) exit 99;;", "esac"]) + "\n")
        program.chmod(0o755)

    def run(self, arguments: str = ASKED) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [os.path.realpath(sys.executable), str(SCRIPT), *shlex.split(arguments)],
            env={"PATH": str(self.folder), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            timeout=60,
            check=False,
        )

    def ended(self, arguments: str = ASKED) -> tuple[str, int, str]:
        done = self.run(arguments)
        return status(done, KNOWN), done.returncode, done.stdout.decode()


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def test_counts_over_all_pods(cluster: Cluster) -> None:
    first = "".join(line(f"10:{n:02}", 200, seconds=f"0.{n:03}") for n in range(1, 51))
    second = line("10:05", 502, "/b", "7.000") * 2 + line("10:06", 404, "/c", None)
    cluster.record(first, second)
    said, code, out = cluster.ended()
    assert (said, code) == ("ok", 0)
    assert "statuses: 3\n| 200  50  94.34 %\n| 404  1  1.89 %\n| 502  2  3.77 %\n" in out
    assert "known of 52 of 53\n| p50 0.026  p90 0.047  p99 7.000  max 7.000\n" in out
    assert "paths with 5xx (of 1): 1\n| /b  2\n" in out
    assert "token" not in out
    assert "first: 2025-01-31T10:01:30+00:00\nlast: 2025-01-31T10:50:30+00:00\n" in out
    assert "scanned: 53\nmatched: 53\n" in out


def test_the_window_goes_by_the_time_in_the_line(cluster: Cluster) -> None:
    edge = line("10:00", 200).replace("10:00:30 ", "10:00:00 ")
    end = line("11:00", 500).replace("11:00:30 ", "11:00:00 ")
    cluster.record(line("09:59", 500) + edge + end, line("10:30", 201, zone="+0200"))
    _, _, out = cluster.ended()
    assert "statuses: 1\n| 200  1  100.00 %\n" in out
    assert "outside the window: 3\n" in out
    _, _, out = cluster.ended(
        "--namespace web --selector app=proxy "
        "--begin 2025-01-31T12:00:00+02:00 --end 2025-01-31T13:00:00+02:00"
    )
    assert "| 200  1  100.00 %\n" in out


def test_lines_of_another_form_are_counted_apart(cluster: Cluster) -> None:
    other = '2025-01-31T10:00:00Z status: ok\n2025-01-31T10:00:00Z {"code": 500}\n'
    cluster.record(other + line("10:01", 200, "/status:\x1b[2K"), "")
    said, code, out = cluster.ended()
    assert (said, code) == ("ok", 0)
    assert "not of a known form: 2\n" in out
    assert "scanned: 3\nmatched: 1\n" in out
    cluster.record(other, "")
    assert cluster.ended()[:2] == ("not_a_log_file", 4)


def test_a_line_that_no_container_wrote_ends_no_reading(cluster: Cluster) -> None:
    cluster.record("unable to retrieve container logs\n" + line("10:01", 200), "")
    said, code, out = cluster.ended()
    assert (said, code) == ("ok", 0)
    assert "not of a known form: 1\n" in out
    assert "scanned: 2\nmatched: 1\n" in out


def test_the_backend_that_answered_last_counts(cluster: Cluster) -> None:
    retried = line("10:01", 200).replace(
        "10.0.0.9:80 5 0.100 200 abc1", "10.0.0.9:80, 10.0.0.8:80 0, 5 0.001, 0.099 502, 200 abc1"
    )
    cluster.record(retried, line("10:02", 503).replace("10.0.0.9:80 5 0.100 503", "- - - -"))
    out = cluster.ended()[2]
    assert "known of 2 of 2\n" in out
    assert "most frequent): 2\n| 200  1\n| -  1\n" in out


def test_a_hostile_line_costs_no_time(cluster: Cluster) -> None:
    long = line("10:01", 200, seconds=None).rstrip("\n")
    cluster.record(f"{long} 90 0.1 [a] [b] {'1 ' * 6000}x y\n" * 200, long + "1" * 20_000 + "\n")
    out = cluster.ended()[2]
    assert "known of 0 of 200\n" in out
    assert "not of a known form: 1\n" in out


def test_nothing_found(cluster: Cluster) -> None:
    cluster.record("", "")
    assert cluster.ended()[:2] == ("empty_source", 4)
    cluster.record(line("09:00", 200), "")
    assert cluster.ended()[:2] == ("no_match", 0)
    cluster.record(line("10:01", 200), "")
    said, code, out = cluster.ended(f"{ASKED} --path-prefix /b")
    assert (said, code) == ("no_match", 0)
    assert "other paths: 1\n" in out
    cluster.record(pods={"items": []})
    assert cluster.ended()[:2] == ("not_found", 4)


@pytest.mark.parametrize(
    ("words", "expected", "code"),
    [
        ("Error from server (Forbidden): x", "forbidden", 3),
        ("Error from server: boom", "source_error", 5),
        ("Unable to connect to the server: EOF", "source_error", 3),
    ],
)
def test_a_pod_that_is_not_read_ends_the_report_so(
    cluster: Cluster, words: str, expected: str, code: int
) -> None:
    cluster.record(line("10:01", 200), (words, 1))
    said, ended, out = cluster.ended()
    assert (said, ended) == (expected, code)
    assert f"pod p-2: unknown ({expected}" in out
    assert "| 200  1  100.00 %\n" in out


def test_a_missing_kubectl_is_no_source(cluster: Cluster) -> None:
    assert cluster.ended()[:2] == ("source_error", 3)


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        f"--namespace web {WINDOW}",
        f"--namespace -A --selector a=b {WINDOW}",
        f"--namespace web --selector=-A {WINDOW}",
        f"{ASKED} --path-prefix b",
        "--namespace web --selector a=b --begin 1h --end 2025-01-31T11:00:00Z",
        "--namespace web --selector a=b --begin 2025-01-31T11:00:00Z --end 2025-01-31T11:00:00Z",
        "--namespace web --selector a=b --begin 2025-01-29T11:00:00Z --end 2025-01-31T11:00:00Z",
        "--namespace web --selector a=b --begin 2025-02-31T11:00:00Z --end 2025-03-01T11:00:00Z",
    ],
)
def test_wrong_arguments_give_no_report(cluster: Cluster, arguments: str) -> None:
    cluster.record("", "")
    done = cluster.run(arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"usage:" in done.stderr
