"""A disk without a byte left: said in each result, and nothing half made stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system")

MOUNTED = 'mount -t tmpfs -o size=256k none "$1" && exec "$2" -c "$3" "$1"'

FULL = """
import os, sys, anyio
from contextlib import suppress
from datetime import datetime, UTC
from pathlib import Path
from truepenny.errors import StorageFailed
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.process import run
from truepenny.text.bound import Limits
from truepenny.workspace.script_run.folder import new_folder
disk = Path(sys.argv[1])
for name in ("runs", "background"):
    (disk / name).mkdir(mode=0o700)
handle = os.open(disk / "fill", os.O_WRONLY | os.O_CREAT)
with suppress(OSError):
    while True:
        os.write(handle, bytes(4096))
limits = CaptureLimits(stdout=Limits(bytes=1000))
code = "print('x' * 100000)"
command = Command((sys.executable, "-I", "-S", "-c", code), {}, limits=limits)
async def main():
    from dataclasses import replace
    done = await run(replace(command, offload=disk / "offload"))
    assert done.exit.observed == 0, done
    assert done.offloaded.problem == "No space left on device", done.offloaded
    assert done.offloaded.bytes == done.stdout.bytes.offloaded == 0, done
    try:
        new_folder(disk / "runs", datetime.now(UTC))
    except StorageFailed as error:
        print(error.message)
    async with BackgroundRuns(disk / "background", 2) as runs:
        try:
            runs.start(command, owner="me", label="")
        except StorageFailed as error:
            print(error.message)
        assert runs.all("me") == ()
anyio.run(main)
print(sorted(str(path.relative_to(disk)) for path in disk.rglob("*")))
"""


def test_on_a_disk_that_is_full_nothing_half_made_stays(tmp_path: Path) -> None:
    words = ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", str(tmp_path), sys.executable, FULL]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    said = "Writing failed: No space left on device\n"
    assert done.stdout == f"{said}{said}['background', 'fill', 'runs']\n"
