"""What is left when the machine runs out of descriptors in the middle of making a start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from truepenny.sandbox.landlock.ruleset import OLDEST, version

SCRIPT = """
import os, resource, sys, tempfile
from pathlib import Path
from tests.sandbox.inside import plan_of
from tests.sandbox.landlock.held import landlock
from truepenny.errors import CouldNotRun
from truepenny.sandbox.cgroup.choice import open_group
from truepenny.sandbox.plan import ResourceLimits

sandbox = landlock(plan_of(Path(sys.argv[1])))
if sandbox is None:
    sys.exit("no Landlock")
sandbox.confine().close()
group = open_group(ResourceLimits())
folders = [] if group is None else [os.path.dirname(path) for path in group.directories]
if group is not None:
    group.remove()

def left():
    ours = f"truepenny-{os.getpid()}-"
    groups = [name for folder in folders for name in os.listdir(folder) if name.startswith(ours)]
    scratch = os.listdir(tempfile.gettempdir())
    return sorted(os.listdir("/proc/self/fd")), groups, scratch

before = left()
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
# The limit is on the number of a descriptor, so it starts above the standard ones.
for limit in range(3, 30):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        confinement = sandbox.confine()
    except CouldNotRun:
        print("refused")
    else:
        confinement.close()
        print("made")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, hard))
    if left() != before:
        print("left", limit, left(), before)
        break
"""


def test_without_descriptors_it_is_refused_whole(folder: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(temporary), "PYTHONPATH": ":".join(sys.path)},
    )
    if version() < OLDEST:
        assert done.stderr == "no Landlock\n"
        return
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()) == {"refused", "made"}
