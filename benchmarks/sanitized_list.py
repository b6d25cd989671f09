"""A large `kubectl get pods -o json` without its secrets, and a path through what is left.

The baseline is reading the same text with the standard parser: what any tool pays that looks into
it at all. Memory is measured in a process of its own, against the size of the text.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from truepenny.demo.world import World
from truepenny.diagnose.sanitize.json_document import JsonStream
from truepenny.diagnose.sanitize.json_path import parse_path
from truepenny.text.redact import Redactor

from .report import Row

MEGABYTES = 50
CHUNK = 64 * 1024
PATH = ".items[].metadata.name"
SECONDS = 3.0
MEMORY = 1.5
"""Issue 4's bars: 50 MB in at most 3 s, and at most 1.5 times its size in memory."""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pods.json")
        pods = _write(path)
        size = path.stat().st_size
        project, peak = _measured(path, PATH)
        whole, whole_peak = _measured(path, "")
        parse, _ = _measured(path, "parse")
    megabytes = size / 1e6
    return [
        _row(f"{pods} pods sanitized and projected, to json.loads", project, parse, megabytes),
        _row(f"{pods} pods sanitized, to json.loads", whole, parse, megabytes),
        Row(
            "seconds to sanitize and project it, to the 3 s bar",
            f"{project:.2f} s",
            f"{SECONDS:.0f} s",
            project / SECONDS,
            1.0,
        ),
        Row(
            "memory beyond an empty process, to the text's size",
            f"{max(peak, whole_peak) / 1e6:.0f} MB",
            f"{megabytes:.0f} MB",
            max(peak, whole_peak) / size,
            MEMORY,
        ),
    ]


def _row(what: str, ours: float, baseline: float, megabytes: float) -> Row:
    speeds = (f"{megabytes / seconds:.0f} MB/s" for seconds in (ours, baseline))
    return Row(what, *speeds, ours / baseline)


def _pods() -> Iterator[dict[str, Any]]:
    """Yield pods without end: those of a practice cluster with secrets in each tenth of them."""
    pods = [each for each in World.load("healthy").objects if each["kind"] == "Pod"]
    pods = [pod for pod in pods if pod["metadata"]["namespace"] == "shop"]
    number = 0
    while True:
        pod = copy.deepcopy(pods[number % len(pods)])
        pod["metadata"]["name"] += f"-{number}"
        pod["metadata"]["uid"] = f"{number:08x}-1111-4222-8333-{number:012x}"
        if number % 10 == 0:
            pod["spec"]["containers"][0]["env"] = [
                {"name": "DB_PASSWORD", "value": f"otter{number}"}
            ]
        yield pod
        number += 1


def _write(path: Path) -> int:
    """Write the list as kubectl does; return how many pods it has."""
    size = count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for pod in _pods():
            text = json.dumps(pod, indent=4).replace("\n", "\n        ")
            size += file.write(f"{',' if count else ''}\n        {text}")
            count += 1
            if size >= MEGABYTES * 1e6:
                break
        file.write('\n    ],\n    "kind": "List",\n    "metadata": {"resourceVersion": ""}\n}\n')
    return count


def _measured(path: Path, what: str) -> tuple[float, int]:
    """Return seconds of CPU and bytes of memory that a process of its own took for it."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sanitized_list", str(path), what],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def _main(path: Path, what: str) -> None:
    """Do it once, after a small one that loads and compiles everything."""
    sample = '{"items":[{"kind":"Pod","metadata":{"name":"a"},"spec":{"password":"b"}}]}'
    for _ in _sanitized(iter([sample]), what):
        pass
    before = _peak()
    began = time.process_time()
    if what == "parse":
        json.loads(path.read_text(encoding="utf-8"))
    else:
        with path.open(encoding="utf-8") as file:
            written = sum(map(len, _sanitized(iter(lambda: file.read(CHUNK), ""), what)))
        if not written:
            raise SystemExit("nothing came out")
    seconds = time.process_time() - began
    print(seconds, _peak() - before)


def _peak() -> int:
    """Return the most bytes that this program has held; what it was forked from does not count."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def _sanitized(pieces: Iterator[str], what: str) -> Iterator[str]:
    stream = JsonStream(Redactor(), parse_path(what) if what.startswith(".") else None)
    for piece in pieces:
        yield stream.feed(piece)
    yield stream.finish()
    if stream.lost:
        raise SystemExit(stream.lost)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
