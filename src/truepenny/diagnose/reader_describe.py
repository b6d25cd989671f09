"""What `kubectl describe` prints of values over several lines: the rest of a masked one.

It prints the value of an environment variable as it is, line breaks and all. The first line stands
beside its name and is masked by it; the next ones stand alone and would be shown.
"""

from __future__ import annotations

import re

MASK = "[REDACTED:continued]"
RULE = "continued"

_MASKED = re.compile(r"^\s{2,}[^\s:][^:\n]*:\s.*\[REDACTED:[^\]\n]*\]")
_OWN = re.compile(r"^(?:\s{2,}[^\s:][^:\n]*:(?:\s|$)|\S[^:\n]*:(?:\s|$)|\s{2,}<|\s*$)")
"""A line that begins something of its own: a field, a section, a remark in angle brackets."""


def mask_continued(text: str) -> tuple[str, int]:
    """Mask the lines that go on with a masked value; return the text and how many there were."""
    kept: list[str] = []
    count, inside, events = 0, False, False
    for line in text.split("\n"):
        if inside and not _OWN.match(line):
            count += 1
            if kept[-1] != MASK:
                kept.append(MASK)
            continue
        # Rows of the events have no name in front, and kubectl puts each on one line. A blank line
        # ends them: the next object follows.
        events = line.startswith("Events:") or (events and bool(line.strip()))
        inside = not events and bool(_MASKED.match(line))
        kept.append(line)
    return "\n".join(kept), count
