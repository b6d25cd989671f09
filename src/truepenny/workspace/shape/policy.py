"""The policies of output (tools spec 2.4)."""

from __future__ import annotations

from enum import StrEnum


class Policy(StrEnum):
    """How much of an output is shown. Whatever is left out is counted and kept in a file."""

    FULL = "full"
    """All of it, or, where that is more than any result may be, head and tail and the reason."""
    BOUNDED = "bounded"
    """Its head and its tail."""
    SUMMARY = "summary"
    """The first lines, those that look like errors, the last lines, and a hash of all of it."""
    METADATA_ONLY = "metadata-only"
    """Nothing of it, only its size and where it is."""
