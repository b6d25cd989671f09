"""Processes that a benchmark starts: the zero-cost server, and peers in their own environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LOCK = HERE / "requirements.lock"
VENV = HERE.parent / ".venv-bench"
PEER = VENV / "bin" / "python"
OURS = Path(sys.executable)


def ensure_peers() -> None:
    """Make the environment of the frameworks measured against, if it is not there yet."""
    installed = VENV / "installed.lock"
    if installed.exists() and installed.read_bytes() == LOCK.read_bytes():
        return
    print("making .venv-bench (once; about a minute)", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
    uv = OURS.parent / "uv"
    sync = [str(uv), "pip", "sync", "--quiet", "--require-hashes", str(LOCK)]
    subprocess.run(sync, check=True, env=os.environ | {"VIRTUAL_ENV": str(VENV)})
    installed.write_bytes(LOCK.read_bytes())


@contextmanager
def zero_server() -> Iterator[str]:
    """Serve in a process of its own; yields the URL."""
    argv = [str(OURS), str(HERE / "zero_server.py")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def measured(python: Path, script: str, *arguments: str) -> dict[str, Any]:
    """Run a script below benchmarks/ and return the JSON of its last line."""
    argv = [str(python), str(HERE / script), *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{script} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def best(python: Path, script: str, *arguments: str, key: str, rounds: int = 3) -> dict[str, Any]:
    """Return the cheapest of several runs: noise only ever adds."""
    runs = [measured(python, script, *arguments) for _ in range(rounds)]
    return min(runs, key=lambda run: run[key])
