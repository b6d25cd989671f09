"""What one loop costs: CPU seconds per tool-calling turn and peak memory, as one JSON line.

Run by the benchmark in a process of its own, with the interpreter that has the framework.
Imports nothing of Truepenny: the other frameworks live in another environment.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path


def peak_mib() -> float:
    """Return this program's own peak: ru_maxrss starts with the peak of whoever forked it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(drive: Callable[[str, int], int]) -> None:
    """Warm up, then drive `turns` turns; argv: base URL, turns."""
    url, turns = sys.argv[1], int(sys.argv[2])
    drive(url, 2)
    before = resource.getrusage(resource.RUSAGE_SELF)
    calls = drive(url, turns)
    after = resource.getrusage(resource.RUSAGE_SELF)
    if calls != turns:
        sys.exit(f"the loop called the tool {calls} times instead of {turns}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu_per_turn": cpu / turns, "peak_mib": peak_mib()}))
