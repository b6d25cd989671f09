"""Starting up, against the bare interpreter; and what `run` costs before its first request."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from pathlib import Path

from .peers import OURS, zero_server
from .report import Row

ROUNDS = 15
VERSION_LIMIT = 3.0
FIRST_REQUEST_LIMIT = 0.5


def run() -> list[Row]:
    program = OURS.parent / "truepenny"
    bare = _cheapest([str(OURS), "-c", "pass"])
    version = _cheapest([str(program), "version"])
    helped = _cheapest([str(program), "--help"])
    with zero_server() as url, tempfile.TemporaryDirectory() as home:
        _configure(Path(home), url)
        first = _cheapest([str(program), "run", "--model", "zero/turns-0", "hello"], home, 5)
    return [
        _row("`truepenny version`", version, bare, VERSION_LIMIT),
        _row("`truepenny --help`", helped, bare, None),
        Row(
            "CPU of a whole `run` with one request, to the limit of 0.5 s before it",
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
        "[providers.zero.models.turns-0]\n"
        f'[clusters.c]\nkubeconfig = "{kubeconfig}"\n',
        encoding="utf-8",
    )


def _cheapest(argv: list[str], home: str | None = None, rounds: int = ROUNDS) -> float:
    environment = dict(os.environ)
    if home:
        environment["TRUEPENNY_HOME"] = home
    costs: list[float] = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            argv, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            raise RuntimeError(f"{argv} exited {done.returncode}:\n{done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)
