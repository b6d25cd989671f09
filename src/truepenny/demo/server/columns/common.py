"""Cells that many kinds share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from truepenny.demo.server.age import since
from truepenny.demo.server.value import Object, dig, listing, mapping, text

NONE = "<none>"
UNSET = "<unset>"

ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def age(value: Object, now: datetime) -> str:
    """Time since the object's creation."""
    return since(dig(value, "metadata", "creationTimestamp"), now)


def created(value: Object) -> str:
    """Creation time as the API writes it."""
    return text(value, "metadata", "creationTimestamp")


def containers(value: Object) -> tuple[str, str]:
    """Names and images of the pod template's containers."""
    found = listing(value, "spec", "template", "spec", "containers")
    return (
        ",".join(text(container, "name") for container in found),
        ",".join(text(container, "image") for container in found),
    )


def labels(pairs: Object) -> str:
    """Labels as `a=b,c=d`."""
    return ",".join(f"{key}={pairs[key]}" for key in sorted(pairs)) or NONE


def selector(written: Any) -> str:
    """A LabelSelector (or a plain label map) in selector syntax."""
    if not isinstance(written, dict) or not written:
        return NONE
    value: Object = written  # pyright: ignore[reportUnknownVariableType]
    if "matchLabels" not in value and "matchExpressions" not in value:
        return labels(value)
    parts = [f"{k}={v}" for k, v in sorted(mapping(value, "matchLabels").items())]
    for term in listing(value, "matchExpressions"):
        key, values = text(term, "key"), ",".join(listing(term, "values"))
        match text(term, "operator"):
            case "In":
                parts.append(f"{key} in ({values})")
            case "NotIn":
                parts.append(f"{key} notin ({values})")
            case "Exists":
                parts.append(key)
            case _:
                parts.append(f"!{key}")
    return ",".join(parts) or NONE


def modes(value: Object, *path: str) -> str:
    """Access modes, abbreviated."""
    return ",".join(ACCESS_MODES.get(str(mode), str(mode)) for mode in listing(value, *path))


def some(parts: Iterable[str], shown: int = 3) -> str:
    """Join a few parts and count the rest."""
    listed = list(parts)
    if not listed:
        return NONE
    rest = len(listed) - shown
    joined = ",".join(listed[:shown])
    return f"{joined} + {rest} more..." if rest > 0 else joined
