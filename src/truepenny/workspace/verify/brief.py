"""Shortening what others wrote, with the cut said: one name or message must not fill a result."""

from __future__ import annotations

WORD = 120
"""Characters of a key or a number in a line of text; the facts have all of it."""

MESSAGE = 300


def brief(text: str, most: int = WORD) -> str:
    """Return the text, or its beginning and how many characters are left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]}…(+{len(text) - most} characters)"
