"""The Python that runs our small programs inside, and those programs where others may read them."""

from __future__ import annotations

import os
from pathlib import Path

from truepenny.errors import CouldNotRun

PYTHONS = (Path("/usr/bin/python3"), Path("/usr/local/bin/python3"))
"""Below /usr, which every sandbox sees. Our own may be in a closed home."""


def system_python() -> Path:
    """Return the one that is there. Raises CouldNotRun."""
    for path in PYTHONS:
        if os.access(path, os.X_OK):
            return path
    raise CouldNotRun(
        "there is no Python below /usr for the client of a proxy",
        where="sandbox",
        remedy="Install python3.",
    )


def copy_program(source: Path, target: Path) -> None:
    """Copy one of our files to a folder that another account may go through."""
    target.write_bytes(source.read_bytes())
    target.chmod(0o644)
