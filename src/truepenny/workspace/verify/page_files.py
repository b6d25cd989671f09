"""Which files of a folder belong to a web page, within bounds, without following any link."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

PAGES = frozenset({".html", ".htm"})
STYLES = frozenset({".css"})
SCRIPTS = frozenset({".js", ".mjs", ".cjs"})
SUFFIXES = PAGES | STYLES | SCRIPTS

MAX_FILES = 200
"""One start of node each: some ten seconds of them."""

MAX_BYTES = 1024 * 1024
"""Of one file; larger ones are bundles that no person wrote."""

MAX_ENTRIES = 20_000
"""Directory entries that are looked at."""

LEFT_OUT = frozenset({"node_modules", "bower_components", "vendor"})
"""Other people's; hidden folders are left out as well."""


@dataclass(slots=True)
class Found:
    """`files` are relative to the workspace, sorted. `rest` says why there may be more."""

    files: list[str] = field(default_factory=list[str])
    rest: str = ""


def find(root: Path, folder: Path) -> Found:
    """Return the files below a real folder of the workspace."""
    found, seen = Found(), 0
    for here, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in LEFT_OUT)
        seen += len(names) + len(folders)
        for name in sorted(names):
            path = Path(here, name)
            if PurePosixPath(name).suffix.lower() not in SUFFIXES or path.is_symlink():
                continue
            if not _utf8(path):
                found.rest = "a file whose name is not UTF-8"
                continue
            if len(found.files) == MAX_FILES:
                found.rest = f"more than {MAX_FILES} files: name a smaller folder"
                return found
            found.files.append(path.relative_to(root).as_posix())
        if seen > MAX_ENTRIES:
            found.rest = f"more than {MAX_ENTRIES} directory entries: name a smaller folder"
            return found
    return found


def _utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
