"""The kinds of values that flags and operands take, each as what its text may be.

No kind but `pattern`, `when` and `signed` may begin with a dash: a value that looks like a flag is
refused even where the program would take it as a value, so that a flag whose arity we had wrong
could not hide another behind it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KINDS = {
    "int": r"[+-]?[0-9]{1,12}",
    "number": r"[0-9]{1,9}(?:\.[0-9]{1,9})?",
    "size": r"[+-]?[0-9]{1,15}(?:[bcwkKMGTPEZY](?:i?B)?)?",
    "signed": r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,9})?[A-Za-z]{0,2}",
    "duration": r"[0-9]{1,4}(?:\.[0-9]{1,9})?[sm]?",
    "name": r"[A-Za-z0-9_.@:/\\+,][A-Za-z0-9_.@:/\\+,-]*",
    "word": r"[A-Za-z0-9_.,:%@+=/^<>*!~][A-Za-z0-9_.,:%@+=/^<>*!~\\ -]*",
    "host": r"[A-Za-z0-9_.:%\[\]][A-Za-z0-9_.:%\[\]/-]*",
    "unit": r"[A-Za-z0-9_.@:\\*?\[\]][A-Za-z0-9_.@:\\*?\[\]-]*",
    "socket": r"(?:unix://)?/(?:run|var/run)/[A-Za-z0-9_./-]+\.sock",
    "when": r"(?:-?[0-9]|[A-Za-z@+])[A-Za-z0-9 :.,@+_/-]*",
    "format": r"\+[^\x00]*",
    "date": r"[A-Za-z0-9@+:][^\x00]*",
    "path": r"(?:[^-]|-\Z).*",
    "text": r"(?:[^-].*)?",
    "pattern": r".*",
}

DASHED = frozenset(("int", "size", "signed", "when", "pattern"))
"""Kinds whose value may begin with a dash when it is a word of its own."""


@lru_cache(maxsize=512)
def matcher(kind: str) -> re.Pattern[str]:
    """Return the shape of a kind; a kind that is not named above lists its values with `|`."""
    shape = _KINDS.get(kind)
    if shape is None:
        shape = "|".join(re.escape(value) for value in kind.split("|"))
    return re.compile(f"(?:{shape})", re.DOTALL)


def fits(kind: str, value: str) -> bool:
    """Whether a value is one of the kind."""
    return matcher(kind).fullmatch(value) is not None


def described(kind: str) -> str:
    """The kind as words of a message."""
    if kind in _KINDS:
        return {"int": "a whole number", "pattern": "a pattern"}.get(kind, f"a {kind}")
    return "one of: " + ", ".join(kind.split("|"))
