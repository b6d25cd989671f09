"""The output of one process, captured by us or read and dropped; argv: ours|plain, bytes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

LINE = "a line of output that a tool might write, with a number: 12345678\n"
WRITER = (
    "import sys\n"
    f"line = {LINE!r} * 1000\n"
    "left = int(sys.argv[1])\n"
    "while left > 0:\n"
    "    sys.stdout.write(line[:left]); left -= len(line)\n"
)


def peak_mib() -> float:
    """Return this program's own peak: ru_maxrss starts with the peak of whoever forked it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _ours(size: int) -> None:
    import anyio

    from truepenny.execute.command import CaptureLimits, Command
    from truepenny.execute.process import run as run_process
    from truepenny.text.redact import Redactor

    argv = (sys.executable, "-c", WRITER, str(size))
    command = Command(
        argv,
        env=dict(os.environ),
        timeout=None,
        limits=CaptureLimits(stop_after=None),  # By itself it would be stopped at 256 MiB.
        redactor=Redactor(),
    )
    done = anyio.run(run_process, command)
    if done.stdout.bytes.observed != size:
        sys.exit(f"observed {done.stdout.bytes.observed} of {size} bytes")


def _plain(size: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(size)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        while child.stdout.read(65536):
            pass


if __name__ == "__main__":
    {"ours": _ours, "plain": _plain}[sys.argv[1]](int(sys.argv[2]))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"peak_mib": peak_mib(), "cpu": usage.ru_utime + usage.ru_stime}))
