"""Starting up, against the bare interpreter; and what `run` costs before its first request."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import tempfile
from pathlib import Path

from .peers import OURS
from .report import Row

ROUNDS = 15
VERSION_LIMIT = 3.0
FIRST_REQUEST_LIMIT = 0.5


def run() -> list[Row]:
    program = OURS.parent / "truepenny"
    bare = _cheapest([str(OURS), "-c", "pass"])
    version = _cheapest([str(program), "version"])
    helped = _cheapest([str(program), "--help"])
    first = min(_until_first_request(str(program)) for _ in range(ROUNDS))
    return [
        _row("`truepenny version`", version, bare, VERSION_LIMIT),
        _row("`truepenny --help`", helped, bare, None),
        Row(
            "CPU of `run` up to its first model request, to the limit of 0.5 s",
            f"{first * 1000:.0f} ms",
            f"{FIRST_REQUEST_LIMIT * 1000:.0f} ms",
            first / FIRST_REQUEST_LIMIT,
            1.0,
        ),
    ]


def _row(what: str, ours: float, bare: float, limit: float | None) -> Row:
    return Row(what, f"{ours * 1000:.0f} ms", f"{bare * 1000:.0f} ms", ours / bare, limit)


def _configure(home: Path, url: str) -> None:
    kubeconfig = home / "kubeconfig"
    kubeconfig.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\n"
        "users: [{name: u, user: {}}]\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\n",
        encoding="utf-8",
    )
    (home / "config").mkdir()
    (home / "config" / "truepenny.toml").write_text(
        f'[providers.zero]\nwire = "openai_chat"\nbase_url = "{url}/v1"\napi_key = "none"\n'
        "[providers.zero.models.m]\n"
        f'[clusters.c]\nkubeconfig = "{kubeconfig}"\n',
        encoding="utf-8",
    )


def _until_first_request(program: str) -> float:
    """Return the CPU seconds that a run has used when its request arrives; then end it."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tempfile.TemporaryDirectory() as home,
    ):
        _configure(Path(home), f"http://127.0.0.1:{server.getsockname()[1]}")
        with subprocess.Popen(
            [program, "run", "--model", "zero/m", "hello"],
            env={**os.environ, "TRUEPENNY_HOME": home},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            server.settimeout(60)
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
            process.kill()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _cheapest(argv: list[str]) -> float:
    costs: list[float] = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"{argv} exited {done.returncode}:\n{done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)
