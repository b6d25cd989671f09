"""Notices a model that goes in circles: the same call with the same result, again and again."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from truepenny.model.message import Text
from truepenny.tool.result import Result

from .record import to_canonical


class LoopGuard:
    """Counts identical (tool, arguments, result) triples among the last `window` calls.

    Refused and malformed attempts count like any other: a model that hammers on a closed door is
    in a loop too. The result is compared by outcome, reason and content, not by its view for the
    model, whose duration differs each time.
    """

    def __init__(self, window: int) -> None:
        self._seen: deque[bytes] = deque(maxlen=window)

    def observe(self, tool: str, arguments: Mapping[str, Any] | str, result: Result) -> int:
        """Take one finished call and return how often it is now among the last calls."""
        digest = sha256(_encoded((tool, arguments)))
        digest.update(f"\0{result.outcome}\0{result.facts.reason}\0".encode())
        for part in result.content:
            if isinstance(part, Text):
                digest.update(part.text.encode("utf-8", "surrogatepass"))
            else:
                digest.update(part.data)
        key = digest.digest()
        self._seen.append(key)
        return self._seen.count(key)


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=repr, order="sorted")
    except (ValueError, TypeError, RecursionError):
        return to_canonical(value)
