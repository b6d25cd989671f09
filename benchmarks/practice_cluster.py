"""The practice cluster: starting it, and listing 5,000 pods of it.

The list is compared with writing the same objects as JSON, which any server has to do, and with
what kubectl spends by itself on reading and printing it.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import DEFAULT, World

from .report import Row

PODS = 5_000
PAGE = 500
"""What kubectl asks for at a time."""

ROUNDS = 5
START_SECONDS = 0.5
"""From nothing to the first answer, of an incident in its own size: nobody notices the wait."""
FLAT = 1.5
"""The last page to the first one: what is skipped must not cost."""
LIST = 4.0
"""The whole list to writing it as JSON alone: TLS and both ends of HTTP in one process."""


def run() -> list[Row]:
    start = statistics.median(_start() for _ in range(ROUNDS))
    began = time.perf_counter()
    world = World.load(DEFAULT, pods=PODS)
    build = time.perf_counter() - began
    pods = [item for item in world.objects if item["kind"] == "Pod"]
    write = statistics.median(_written(pods) for _ in range(ROUNDS))
    with PracticeCluster(world) as cluster:
        rounds = [_pages(cluster) for _ in range(ROUNDS)]
        first, last = (statistics.median(pages[at] for pages in rounds) for at in (0, -1))
        whole = statistics.median(sum(pages) for pages in rounds)
        rows = [
            _row("start to the first answer, to the 0.5 s bar", start, START_SECONDS, 1.0),
            _row(f"a world of {PODS} pods, to the bar of 5 s", build, 5.0, 1.0),
            _row(f"last page of {PAGE} pods, to the first one", last, first, FLAT),
            _row(f"{PODS} pods in pages, to writing them as JSON", whole, write, LIST),
        ]
        if kubectl := _kubectl():
            wall, own = _printed(cluster, kubectl)
            what = f"`kubectl get pods -A -o json` of {PODS}, to the CPU of kubectl alone"
            rows.append(_row(what, wall, own, None))
    return rows


def _row(what: str, ours: float, baseline: float, limit: float | None) -> Row:
    return Row(what, f"{ours * 1000:.0f} ms", f"{baseline * 1000:.0f} ms", ours / baseline, limit)


def _start() -> float:
    began = time.perf_counter()
    with PracticeCluster(World.load(DEFAULT)) as cluster:
        _Client(cluster).get("/api/v1/namespaces")
        return time.perf_counter() - began


def _written(pods: list[dict[str, Any]]) -> float:
    began = time.perf_counter()
    json.dumps(pods, ensure_ascii=False).encode()
    return time.perf_counter() - began


def _pages(cluster: PracticeCluster) -> list[float]:
    """Return the seconds of each page, read to its end; all of the pods are there."""
    client, seconds, token, seen = _Client(cluster), list[float](), "", 0
    while True:
        began = time.perf_counter()
        body = client.get(f"/api/v1/pods?limit={PAGE}&continue={quote(token)}")
        seconds.append(time.perf_counter() - began)
        page = json.loads(body)
        seen += len(page["items"])
        token = page["metadata"].get("continue", "")
        if not token:
            break
    if seen != PODS:
        raise SystemExit(f"{seen} pods were listed, not {PODS}")
    return seconds


class _Client:
    """One kept connection, made and warm."""

    def __init__(self, cluster: PracticeCluster) -> None:
        address = urlsplit(cluster.url)
        trust = ssl.create_default_context(cadata=cluster.certificate.decode())
        self._connection = http.client.HTTPSConnection(
            str(address.hostname), address.port, timeout=60, context=trust
        )
        self._headers = {"Authorization": f"Bearer {cluster.token}"}
        self.get("/api")

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:200]!r}")
        return body


def _kubectl() -> str | None:
    beside = Path(sys.executable).with_name("kubectl")
    return str(beside) if beside.exists() else shutil.which("kubectl")


def _printed(cluster: PracticeCluster, kubectl: str) -> tuple[float, float]:
    """Return the seconds that kubectl took, and those of CPU that it used itself."""
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "KUBECONFIG": str(cluster.kubeconfig), "PATH": os.defpath}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        words = [kubectl, "get", "pods", "-A", "-o", "json"]
        subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL)
        wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
