"""Kubernetes quantities, as far as the practice worlds use them: CPU in milli, memory in bytes."""

from __future__ import annotations

_BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}


def milli(text: str) -> int:
    """Read a CPU amount (`250m`, `2`, `0.5`) as thousandths of a core."""
    if text.endswith("m"):
        return int(text[:-1])
    return round(float(text) * 1000)


def plain_bytes(text: str) -> int:
    """Read a memory amount (`512Mi`, `1000`) as bytes."""
    for suffix, factor in _BINARY.items():
        if text.endswith(suffix):
            return round(float(text.removesuffix(suffix)) * factor)
    return int(text)


def write_milli(amount: int) -> str:
    """Write thousandths of a core in the canonical form: whole cores without a suffix."""
    return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"


def write_bytes(amount: int) -> str:
    """Write bytes with the largest binary suffix that loses nothing."""
    for suffix, factor in reversed(_BINARY.items()):
        if amount and amount % factor == 0:
            return f"{amount // factor}{suffix}"
    return str(amount)
