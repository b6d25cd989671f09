"""The promise of the embedded default: every shipped incident's cause is found, nothing is made up.

Runs the command that people run, over the folder they read, in two halves for two cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "evals"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/incident.toml"))


@pytest.mark.parametrize("half", [0, 1])
def test_every_incident_is_explained(half: int, tmp_path: Path) -> None:
    names = NAMES[half::2]
    assert len(names) > 20
    command = ["-m", "truepenny", "evaluate", "--json", "--model", "builtin/analyst", "--incidents"]
    done = subprocess.run(
        [sys.executable, *command, str(FOLDER), *names],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    report = json.loads(done.stdout)
    failed = [t for t in report["trials"] if not t["score"] or not t["score"]["passed"]]
    assert failed == []
    assert (done.returncode, report["total"]["ran"]) == (0, len(names))
