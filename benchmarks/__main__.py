"""Run the benchmarks named, or all; exits 1 where a limit does not hold."""

from __future__ import annotations

import importlib
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
)


def main() -> int:
    names = sys.argv[1:] or list(NAMES)
    if unknown := [name for name in names if name not in NAMES]:
        print(f"no benchmark {unknown[0]!r}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = False
    for name in names:
        rows = importlib.import_module(f".{name}", __package__).run()
        show(name, rows)
        failed |= not all(row.holds for row in rows)
    return 1 if failed else 0


sys.exit(main())
