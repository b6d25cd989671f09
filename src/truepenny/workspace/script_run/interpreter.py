"""Which program the name of an interpreter means to a command: one that it can reach itself.

PATH is ours, and its first match may be in a place that no sandbox shows (an environment in our
own home, say) while the next one is in the system.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from truepenny.workspace.file.access import FileAccess
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.place import Need, find_place

_EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A program by the path that is run, and by the file that this really is (None: not found)."""

    program: str
    real: str | None = None


def find_interpreter(access: FileAccess, name: str, path: str) -> Interpreter:
    """Return the first of that name on `path`, a PATH value, that a command may read.

    Where there is none the name is left as it is: the start says what is missing.
    """
    for folder in path.split(os.pathsep):
        if not folder.startswith("/"):
            continue
        program = os.path.join(folder, name)
        try:
            with find_place(access, program, Need.READ) as place:
                found = place.found
                if place.kind == "file" and found is not None and found.st_mode & _EXECUTABLE:
                    return Interpreter(program, str(place.path))
        except FileFault:
            continue
    return Interpreter(name)
