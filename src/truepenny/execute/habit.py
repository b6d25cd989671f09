"""What exit codes of well-known programs mean, as data: one entry a program.

`NOTHING_FOUND` lists codes that answer "there is none". `diff` and `cmp` are left out on purpose:
that two things differ is a finding. `EARLY` lists programs that stop reading on purpose, so that
whoever writes to them is ended by SIGPIPE without any fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NOTHING_FOUND: dict[str, tuple[int, ...]] = {
    "grep": (1,),
    "egrep": (1,),
    "fgrep": (1,),
    "zgrep": (1,),
    "bzgrep": (1,),
    "xzgrep": (1,),
    "zstdgrep": (1,),
    "rg": (1,),
    "ag": (1,),
    "ack": (1,),
    "pgrep": (1,),
    "pidof": (1,),
    "ps": (1,),
    "findmnt": (1,),
    "test": (1,),
    "[": (1,),
    "[[": (1,),
    "which": (1,),
    "type": (1,),
    "getent": (2,),
}

_GREPS = ("grep", "egrep", "fgrep", "zgrep", "rg")
_GREP_STOPS = re.compile(r"-[A-Za-z]*[qm]\d*|--(?:quiet|silent|max-count(?:=.*)?)")
_SED_STOPS = re.compile(r"\s*(?:\d+|/[^/]*/)?\s*[qQ]\s*\d*\s*")
_SED_COMMANDS = re.compile(r"[;{}\n]")
_AWK_STOPS = re.compile(r"\bexit\b")


def nothing_found(words: Sequence[str]) -> tuple[int, ...]:
    """Return the codes of this command that mean "found nothing"; `words` begin with its name."""
    return NOTHING_FOUND.get(words[0], ()) if words else ()


def stops_early(words: Sequence[str]) -> bool:
    """Whether a command stops reading its input on purpose."""
    if not words:
        return False
    name, rest = words[0], words[1:]
    if name == "head":
        return True
    if name in _GREPS:
        return any(_GREP_STOPS.fullmatch(word) for word in rest)
    if name == "sed":
        parts = (part for word in rest for part in _SED_COMMANDS.split(word))
        return any(_SED_STOPS.fullmatch(part) for part in parts)
    if name in ("awk", "gawk", "mawk"):
        return any(_AWK_STOPS.search(word) for word in rest)
    # They read a line, or nothing of their input at all.
    return name in ("read", "true", "false", ":", "cmp", "less", "more")
