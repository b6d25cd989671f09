"""A word towards the file tools: once a session, where a line does by a program what they do.

They say what they left out and where to go on; of a program's output nobody knows whether a hidden
or an unreadable file is missing (tools spec 2.4).
"""

from __future__ import annotations

import re

from truepenny.execute.stage import stages

INSTEAD = {
    "cat": "read",
    "less": "read",
    "more": "read",
    "grep": "grep",
    "egrep": "grep",
    "fgrep": "grep",
    "rg": "grep",
    "find": "find",
    "ls": "find",
}
"""By program the tool that does the same."""

_WRITES = re.compile(r"<<|(?<![2&])>")
"""What makes the output go into a file, or the input stand in the line: no looking at files."""


def nudge(line: str) -> str:
    """Return a sentence for a line that is one such command alone, empty for any other."""
    if _WRITES.search(line):
        return ""
    words = stages(line)
    if words is None or len(words) != 1 or not words[0]:
        return ""
    program = words[0][0]
    tool = INSTEAD.get(program)
    if tool is None:
        return ""
    return f"for what `{program}` does here there is the tool {tool}: it says what it left out"
