"""Whether the files that a page names are there. Nothing outside of the workspace is looked at."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from .page_finding import Problem, Reference, Status

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\?")
"""Another origin, a data or script address, a place in the same page."""

_TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{")


def problem_of(reference: Reference, page: Path, site: Path, root: Path) -> Problem | None:
    """Return what is wrong with a reference of the file `page`, None for nothing.

    A path from `/` begins at `site`, the folder that was asked about: whether the server's own
    root is that one is not known, so a missing one is a warning.
    """
    target = reference.target
    if not target or _ELSEWHERE.match(target) or _TEMPLATE.search(target):
        return None
    path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
    if not path or "\0" in path:
        return None
    absolute = path.startswith("/")
    place = site / path.lstrip("/") if absolute else page.parent / path
    place = Path(os.path.normpath(place))
    if not place.is_relative_to(root):
        return Problem(reference.line, f"{target!r} leads outside of the workspace")
    try:
        real = place.resolve(strict=True)
    except (OSError, RuntimeError):
        status = Status.WARN if absolute else Status.FAIL
        return Problem(reference.line, f"{target!r} does not exist", status)
    if not real.is_relative_to(root):
        return Problem(reference.line, f"{target!r} leads outside of the workspace over a link")
    return None
