"""What documents of both notations have in common."""

from __future__ import annotations

from typing import Any, cast

MAX_VALUE = 16 * 1024 * 1024
"""Characters of one item, or of a document without items; a larger one is not shown. The API
server stores no object above 1.5 MiB."""


def unsaid_kind(value: Any, inherited: str) -> str:
    """Return the kind for what does not say its own: unknown data is taken for a Secret's."""
    if inherited or not isinstance(value, dict):
        return inherited
    members = cast("dict[str, Any]", value)
    unknown = "kind" not in members and "metadata" in members and "data" in members
    return "Secret" if unknown else ""
