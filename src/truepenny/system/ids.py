"""The one id scheme: `<kind>_<26 characters>`, sorted by birth (ULID layout, lower case)."""

from __future__ import annotations

import os
import time
from typing import Protocol

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: no i, l, o, u


class Ids(Protocol):
    """A source of new ids."""

    def new(self, kind: str) -> str:
        """Return an id that was never returned before; `kind` is a short lower-case word."""
        ...


class RandomIds:
    """48 bits of milliseconds, then 80 random bits."""

    def new(self, kind: str) -> str:
        value = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10), "big")
        return f"{kind}_{''.join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))}"


class CountingIds:
    """Predictable ids for tests: `call_1`, `call_2`, ... counted per kind."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def new(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}_{self._counts[kind]}"
