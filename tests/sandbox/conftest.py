"""A folder that sandboxed processes can enter: pytest's own are closed to all but their maker."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.privilege import NOBODY


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="workspace-", dir="/tmp")).resolve()
    made.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)
