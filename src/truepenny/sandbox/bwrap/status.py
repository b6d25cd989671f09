"""What bubblewrap's own account of a start proves.

It writes one JSON object a line: `child-pid` once its process is there, and `exit-code` at the
end of a program that was really started. So a code without the second one is bubblewrap's own.
"""

from __future__ import annotations

import json
from typing import cast

from truepenny.sandbox.confinement import NotStarted, Refused

PREFIX = "bwrap: "
EXEC = f"{PREFIX}execvp "
CHDIR = f"{PREFIX}Can't chdir to "
MISSING = ": No such file or directory"

LONGEST_MESSAGE = 500
"""Characters of a message that is passed on; a path in it may be long."""


def verdict(records: bytes, code: int | None, stderr: str) -> NotStarted | None:
    """Return why the program did not start, or None where it did or where nothing is proven.

    A start that was ended by a signal (`code` None) proves nothing. Bubblewrap turns a signal
    that ended the program into 128 + its number, like a shell; that is left for the reader of
    the code to understand.
    """
    if code is None or "exit-code" in _fields(records):
        return None
    lines = stderr.splitlines()
    line = next((line for line in lines if line.startswith(EXEC)), None)
    if line is not None:
        why = Refused.MISSING if line.endswith(MISSING) else Refused.NOT_EXECUTABLE
        return NotStarted(why, line.removeprefix(EXEC)[:LONGEST_MESSAGE])
    line = next((line for line in lines if line.startswith(CHDIR)), None)
    if line is not None:
        return NotStarted(Refused.DIRECTORY, line.removeprefix(PREFIX)[:LONGEST_MESSAGE])
    line = next((line for line in lines if line.startswith(PREFIX)), None) or next(iter(lines), "")
    return NotStarted(Refused.SANDBOX, line[:LONGEST_MESSAGE] or f"exit code {code}, no message")


def _fields(records: bytes) -> dict[str, object]:
    found: dict[str, object] = {}
    for line in records.splitlines():
        try:
            value: object = json.loads(line)
        except ValueError:
            continue  # cut off at the end of what bubblewrap lived to write
        if isinstance(value, dict):
            found.update(cast("dict[str, object]", value))
    return found
