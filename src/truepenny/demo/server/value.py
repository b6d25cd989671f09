"""Reading Kubernetes objects as plain JSON values: a missing field is a default, never an error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

Object = dict[str, Any]
"""One Kubernetes object (or any part of one) as decoded JSON."""


def dig(value: Any, *path: str | int, default: Any = None) -> Any:
    """Follow keys and list indexes; `default` where a step is missing or null."""
    for step in path:
        if isinstance(step, int):
            entries = cast("list[Any]", value) if isinstance(value, list) else []
            value = entries[step] if -len(entries) <= step < len(entries) else None
        else:
            value = cast("Object", value).get(step) if isinstance(value, dict) else None
        if value is None:
            return default
    return value


def text(value: Any, *path: str | int, default: str = "") -> str:
    """Follow a path and write what is there as text."""
    found = dig(value, *path)
    return default if found is None else str(found)


def number(value: Any, *path: str | int, default: int = 0) -> int:
    """Follow a path to an integer; `default` where there is none."""
    found = dig(value, *path)
    return found if isinstance(found, int) else default


def listing(value: Any, *path: str | int) -> list[Any]:
    """Follow a path to a list; empty where there is none."""
    found = dig(value, *path)
    return cast("list[Any]", found) if isinstance(found, list) else []


def mapping(value: Any, *path: str | int) -> Object:
    """Follow a path to an object; empty where there is none."""
    found = dig(value, *path)
    return cast("Object", found) if isinstance(found, dict) else {}


def name_of(value: Object) -> str:
    """Return metadata.name."""
    return text(value, "metadata", "name")


def namespace_of(value: Object) -> str:
    """Return metadata.namespace; empty for a cluster-scoped object."""
    return text(value, "metadata", "namespace")


def condition(value: Object, kind: str) -> Object:
    """Return the status condition of that type, or an empty object."""
    for entry in listing(value, "status", "conditions"):
        if dig(entry, "type") == kind:
            return entry
    return {}


def moment(written: Any) -> datetime | None:
    """Read an RFC 3339 time; None where it is missing or not one."""
    if isinstance(written, datetime):
        return written if written.tzinfo else written.replace(tzinfo=UTC)
    if not isinstance(written, str) or not written:
        return None
    try:
        read = datetime.fromisoformat(written)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
