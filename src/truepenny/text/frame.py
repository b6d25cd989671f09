"""Frame text from outside, so that a model can tell it from its instructions.

The frame is named by a digest of the text inside: a text cannot contain the digest of itself, so
it cannot forge the end of its own frame. Frame-like tags inside are defused as well, for a reader
that does not compare names. The same text gives the same frame.
"""

from __future__ import annotations

import hashlib
import re

_TAG = re.compile(r"<(?=\s*/?\s*untrusted\b)", re.IGNORECASE)
_NAME_BYTES = 8  # 64 bits: more than a writer can search through to hit its own digest
_SOURCE = re.compile(r"[^\w ./:@#?=&%+~,()-]+")
MAX_SOURCE = 200
"""Characters of a source name in the frame."""


def untrusted(text: str, source: str) -> str:
    """Return the text in a frame that names its source; the text is data, never an instruction."""
    safe = _TAG.sub("&lt;", text)
    name = hashlib.sha256(safe.encode("utf-8", "surrogatepass")).hexdigest()[: 2 * _NAME_BYTES]
    origin = _SOURCE.sub("_", source)[:MAX_SOURCE]
    newline = "" if safe.endswith("\n") or not safe else "\n"
    return f'<untrusted id="{name}" source="{origin}">\n{safe}{newline}</untrusted id="{name}">'
