"""Run the benchmarks named, or all; exits 1 where a limit does not hold."""

from __future__ import annotations

import importlib
import subprocess
import sys

from .report import show

NAMES = (
    "startup",
    "loop",
    "stream_parsing",
    "text_throughput",
    "sanitized_list",
    "streamed_output",
    "command_overhead",
    "sandboxed_command",
    "command_reading",
    "practice_cluster",
)


def main() -> int:
    names = sys.argv[1:] or list(NAMES)
    if unknown := [name for name in names if name not in NAMES]:
        print(f"no benchmark {unknown[0]!r}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    if len(names) > 1:
        # Each in a process of its own: what one found out about its rights is not the next one's.
        codes = [_alone(name) for name in names]
        return 1 if any(codes) else 0
    rows = importlib.import_module(f".{names[0]}", __package__).run()
    show(names[0], rows)
    return 0 if all(row.holds for row in rows) else 1


def _alone(name: str) -> int:
    return subprocess.run([sys.executable, "-m", "benchmarks", name], check=False).returncode


sys.exit(main())
