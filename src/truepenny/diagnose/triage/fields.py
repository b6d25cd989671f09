"""Guarded access to Kubernetes JSON: a field of a wrong type reads as absent, never as a crash."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, cast

Object = dict[str, Any]
"""One Kubernetes object as kubectl prints it with `-o json`."""

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)")
# Kubernetes' resource.Quantity suffixes; `m` is a thousandth.
_FACTORS = {
    "": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50,
}  # fmt: skip


def at(value: Any, *path: str) -> Any:
    """Walk mappings by key; None where anything on the way is missing or not a mapping."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = cast("Object", value).get(key)
    return value


def mapping(value: Any, *path: str) -> Object:
    """Return the mapping there, or an empty one."""
    found = at(value, *path)
    return cast("Object", found) if isinstance(found, dict) else {}


def objects(value: Any, *path: str) -> list[Object]:
    """Return the mappings of the list there; other members are left out."""
    found = at(value, *path)
    if not isinstance(found, list):
        return []
    return [cast("Object", each) for each in cast("list[Any]", found) if isinstance(each, dict)]


def strings(value: Any, *path: str) -> list[str]:
    """Return the strings of the list there."""
    found = at(value, *path)
    if not isinstance(found, list):
        return []
    return [each for each in cast("list[Any]", found) if isinstance(each, str)]


def text(value: Any, *path: str) -> str:
    """Return the string there, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: Any, *path: str) -> int:
    """Return the whole number there, or 0."""
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def labels(value: Any, *path: str) -> dict[str, str]:
    """Return a string-to-string mapping such as labels or a selector."""
    return {key: item for key, item in mapping(value, *path).items() if isinstance(item, str)}


def name(obj: Object) -> str:
    """Return metadata.name."""
    return text(obj, "metadata", "name")


def namespace(obj: Object) -> str:
    """Return metadata.namespace, empty for cluster-wide objects."""
    return text(obj, "metadata", "namespace")


def moment(value: Any, *path: str) -> datetime | None:
    """Return the RFC 3339 time there, aware, or None."""
    written = text(value, *path)
    try:
        found = datetime.fromisoformat(written.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def condition(obj: Object, kind: str) -> Object:
    """Return the status condition of that type, or an empty mapping."""
    for each in objects(obj, "status", "conditions"):
        if each.get("type") == kind:
            return each
    return {}


def quantity(written: Any) -> float | None:
    """Read a resource quantity (`250m`, `64Mi`, `2`); None when it is not one."""
    match = _QUANTITY.fullmatch(str(written)) if written is not None else None
    factor = _FACTORS.get(match[2]) if match else None
    return float(match[1]) * factor if match and factor is not None else None
