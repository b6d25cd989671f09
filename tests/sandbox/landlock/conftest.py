from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.inside import give, make_file, make_folder


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder of the same account, which modes alone would not close."""
    made = Path(tempfile.mkdtemp(prefix="outside-", dir="/tmp")).resolve()
    made.chmod(0o777)
    give(made)
    make_file(made / "secret", "of-the-person")
    make_folder(made / "folder")
    yield made
    shutil.rmtree(made)
