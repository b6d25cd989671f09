"""Relative time in incident folders: `@-5m` is five minutes before the world's now.

A duration is numbers with units, largest first: `1d2h`, `5m3s`, `0.4s`. Units are d, h, m, s.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from truepenny.errors import ConfigurationError

_PIECE = re.compile(r"(\d+(?:\.\d+)?)([dhms])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_WHOLE = re.compile(r"@([+-])([\d.dhms]+)")
_INSIDE = re.compile(r"\{@([+-])([\d.dhms]+)\}")


def duration(text: str) -> timedelta:
    """Read `1d2h3m4s`; anything else raises ConfigurationError. `0s` is now."""
    pieces = _PIECE.findall(text)
    if not pieces or "".join(number + unit for number, unit in pieces) != text:
        raise ConfigurationError(f"{text!r} is no duration", remedy="Write it like 1d2h or 5m3s.")
    return sum((timedelta(**{_UNITS[unit]: float(n)}) for n, unit in pieces), timedelta())


@dataclass(frozen=True, slots=True)
class Timeline:
    """Every moment of one world, counted back from its `now` (aware, UTC)."""

    now: datetime

    def ago(self, age: str | timedelta) -> datetime:
        """Return the moment that lies `age` before now; a negative age lies in the future."""
        return self.now - (duration(age) if isinstance(age, str) else age)

    def stamp(self, age: str | timedelta) -> str:
        """Write the moment `age` ago as Kubernetes does: RFC 3339, UTC, whole seconds."""
        return seconds(self.ago(age))

    def micro(self, age: str | timedelta) -> str:
        """Write the moment `age` ago as a Kubernetes MicroTime."""
        return self.ago(age).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def moment(self, token: str) -> datetime | None:
        """Return the moment that a whole `@-5m` or `@+30d` token names, else None."""
        match = _WHOLE.fullmatch(token)
        return self.ago(_signed(match[1], match[2])) if match else None

    def resolve(self, text: str) -> str:
        """Replace a whole token, and each `{@-5m}` inside a longer text, by its moment."""
        if "@" not in text:
            return text  # Nearly every text; a large world has a million.
        moment = self.moment(text)
        if moment is not None:
            return seconds(moment)
        return _INSIDE.sub(lambda match: self.stamp(_signed(match[1], match[2])), text)


def _signed(sign: str, text: str) -> timedelta:
    return duration(text) if sign == "-" else -duration(text)


def seconds(moment: datetime) -> str:
    """Write a moment as RFC 3339 in UTC with whole seconds, as Kubernetes writes Time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(stamp: str) -> datetime:
    """Read a moment that `seconds` or `micro` wrote."""
    return datetime.fromisoformat(stamp.replace("Z", "+00:00"))


def walk(value: Any, change: Callable[[str], str]) -> Any:
    """Return the same JSON tree with every string value (no keys) passed through `change`."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        tree = cast("dict[str, Any]", value)
        return {key: walk(item, change) for key, item in tree.items()}
    if isinstance(value, list):
        return [walk(item, change) for item in cast("list[Any]", value)]
    return value
