"""Names, uids and addresses that look random and are the same in every run."""

from __future__ import annotations

import hashlib
import uuid

_SAFE = "bcdfghjklmnpqrstvwxz2456789"  # the letters Kubernetes uses: no vowels, no 0, 1, 3
_SPACE = uuid.UUID("8a4d1f0e-6c1b-4b7e-9a53-2f6f1f6d7a10")


def uid(key: str) -> str:
    """Return the uid of the object with this key (`Kind/namespace/name`)."""
    return str(uuid.uuid5(_SPACE, key))


def digits(key: str) -> int:
    """Return a large number that depends on the key alone."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big")


def letters(key: str, length: int) -> str:
    """Return letters as in generated names: 10 for a template hash, 5 for a pod."""
    number = digits(key)
    return "".join(_SAFE[number // len(_SAFE) ** place % len(_SAFE)] for place in range(length))


def hexadecimal(key: str, length: int = 64) -> str:
    """Return lower-case hex digits, at most 64 (image digests, container ids)."""
    return hashlib.sha256(key.encode()).hexdigest()[:length]


def service_address(key: str) -> str:
    """Return a cluster address in 10.96.0.0/16, away from its first addresses."""
    number = digits(key)
    return f"10.96.{number % 240 + 10}.{number // 240 % 250 + 2}"
