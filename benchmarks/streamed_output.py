"""A process that writes 1 GB: memory stays flat, whatever the size of the output."""

from __future__ import annotations

from .peers import OURS, measured
from .report import Row

SMALL, LARGE, HUGE = 1_000_000, 100_000_000, 1_000_000_000
MEMORY_LIMIT = 1.2


def run() -> list[Row]:
    script = "loads/captured_output.py"
    small = measured(OURS, script, "ours", str(SMALL))
    large = measured(OURS, script, "ours", str(LARGE))
    huge = measured(OURS, script, "ours", str(HUGE))
    plain = measured(OURS, script, "plain", str(LARGE))
    return [
        Row(
            "peak memory, 1 GB of output to 1 MB of output",
            f"{huge['peak_mib']:.1f} MiB",
            f"{small['peak_mib']:.1f} MiB",
            huge["peak_mib"] / small["peak_mib"],
            MEMORY_LIMIT,
        ),
        Row(
            "CPU of 100 MB captured, redacted and bounded, to read and dropped",
            f"{large['cpu']:.2f} s",
            f"{plain['cpu']:.2f} s",
            large["cpu"] / max(plain["cpu"], 0.001),
        ),
    ]
