"""PATH as a command finds it: without the folders that its sandbox does not show.

Under bubblewrap such a folder is not there and the search goes on. Under Landlock a program in it
is still found, by a link that leads into the system say, and then fails on the files beside it:
the Python of an environment in somebody's home cannot read its own `pyvenv.cfg`.
"""

from __future__ import annotations

import os

from .credential.environment import STANDARD_PATH
from .plan import Mode, Plan

_SHOWN = (Mode.READ, Mode.WRITE, Mode.LINK)


def search_path(path: str, plan: Plan) -> str:
    """Return a PATH value with those entries of `path` that are there inside, in their order.

    An entry that is only there by its real name is told by that. Where none is left, the system's
    own folders are searched.
    """
    kept = [shown for entry in path.split(os.pathsep) if (shown := _shown(entry, plan))]
    return os.pathsep.join(dict.fromkeys(kept)) or STANDARD_PATH


def _shown(entry: str, plan: Plan) -> str | None:
    if _is_shown(entry, plan):
        return entry
    real = os.path.realpath(entry)
    return real if _is_shown(real, plan) else None


def _is_shown(entry: str, plan: Plan) -> bool:
    if any(_is_below(entry, str(mask)) for mask in plan.masks):
        return False
    above = [mount for mount in plan.mounts if _is_below(entry, str(mount.destination))]
    # The deepest one decides, of two at one place the later.
    deepest = max(reversed(above), key=lambda mount: len(mount.destination.parts), default=None)
    return deepest is not None and deepest.mode in _SHOWN


def _is_below(entry: str, folder: str) -> bool:
    return entry == folder or entry.startswith(folder.rstrip("/") + "/")
