"""What is said beside sanitized output (spec/diagnostics.md 4): never when there is nothing to say.

A notice that something was redacted, where nothing was, is worse than none: whoever reads it looks
for what is not there.
"""

from __future__ import annotations

from collections.abc import Mapping

from .form import Sanitizer
from .json_document import JsonStream
from .yaml_document import YamlStream

UNREAD = "this is not the document it was expected to be; it was redacted line by line"


def redacted(counts: Mapping[str, int]) -> str:
    """Say how many values were redacted and by which rules; empty where none was."""
    total = sum(counts.values())
    if not total:
        return ""
    rules = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    some = "1 sensitive value has" if total == 1 else f"{total} sensitive values have"
    return f"{some} been redacted ({rules})"


def withheld(characters: int, why: str) -> str:
    """Say what is not shown; empty where all is."""
    return f"{characters} characters are not shown: {why}" if why else ""


def notices(sanitizer: Sanitizer) -> tuple[str, ...]:
    """Return what is to be said of a sanitizer that has finished."""
    said = [redacted(sanitizer.counts)]
    if isinstance(sanitizer, (JsonStream, YamlStream)):
        said += (UNREAD if sanitizer.unread else "", withheld(sanitizer.withheld, sanitizer.lost))
    return tuple(text for text in said if text)
