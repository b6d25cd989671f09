"""Laying one tree over another: an incident over the base world, a revision over the present."""

from __future__ import annotations

from typing import Any, cast


def merged(under: Any, over: Any) -> Any:
    """Return `over` laid on `under` as a JSON merge patch: mappings merge, null removes.

    Lists and plain values replace what was there. Neither argument is changed.
    """
    if not isinstance(over, dict):
        return over
    result = dict(cast("dict[str, Any]", under)) if isinstance(under, dict) else {}
    for key, value in cast("dict[str, Any]", over).items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
