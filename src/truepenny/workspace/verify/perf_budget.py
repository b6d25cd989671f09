"""Judging a measured time against a budget or a baseline (tools spec 2.10). No input or output."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

VERSION = 2
"""Of a baseline file. Version 1 had no host; it is read, never written."""

MAX_BASELINE_BYTES = 16 * 1024
"""A baseline is some 500 bytes."""

_INTEGERS = frozenset({"cpuCount", "totalMemoryBytes"})


class UnusableBaseline(Exception):
    """The file is no baseline of this check."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The machine that a time was measured on; names as in the file."""

    hostname: str
    platform: str
    arch: str
    cpuModel: str
    cpuCount: int
    totalMemoryBytes: int
    nodeVersion: str = ""
    """Empty where there is no such program, or nobody asked."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """One recorded time in milliseconds. `recorded_at` is RFC 3339, empty when unknown."""

    check: str
    wall_ms: float
    recorded_at: str
    host: HostFacts | None
    version: int = VERSION

    def encode(self) -> bytes:
        """Return the content of the file."""
        value = {
            "version": VERSION,
            "check": self.check,
            "wallTimeMs": self.wall_ms,
            "recordedAt": self.recorded_at,
            "host": self.host and asdict(self.host),
        }
        return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class PerfVerdict:
    """`measured_ms` passes up to and with `limit_ms` = reference x (1 + relative)."""

    measured_ms: float
    reference_ms: float
    relative: float
    limit_ms: float
    ratio: float
    passed: bool


def judge(measured_ms: float, reference_ms: float, relative: float) -> PerfVerdict:
    """Compare one time with its reference. `ratio` is rounded to three decimals for people; the
    verdict is not taken from it."""
    limit = reference_ms * (1 + relative)
    ratio = round(measured_ms / reference_ms, 3)
    return PerfVerdict(measured_ms, reference_ms, relative, limit, ratio, measured_ms <= limit)


def decode(data: bytes, check: str) -> Baseline:
    """Read a baseline file of version 1 or 2. Raises UnusableBaseline."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise UnusableBaseline("it is not JSON") from None
    if not isinstance(value, dict):
        raise UnusableBaseline("it is not a JSON object")
    fields = cast("dict[str, Any]", value)
    version = fields.get("version")
    if isinstance(version, bool) or version not in (1, VERSION):
        raise UnusableBaseline(f"its version is {version!r}; 1 and {VERSION} are known")
    if fields.get("check") != check:
        raise UnusableBaseline(f"it was recorded for the check {fields.get('check')!r}")
    wall = fields.get("wallTimeMs")
    if isinstance(wall, bool) or not isinstance(wall, int | float) or not 0 < wall < math.inf:
        raise UnusableBaseline("its wallTimeMs is not a time above zero")
    recorded = fields.get("recordedAt", "")
    if not isinstance(recorded, str):
        raise UnusableBaseline("its recordedAt is not a text")
    host = _host(fields.get("host")) if version == VERSION else None
    return Baseline(check, float(wall), recorded, host, version)


def _host(value: object) -> HostFacts:
    if not isinstance(value, dict):
        raise UnusableBaseline("it has no host")
    found = cast("dict[str, Any]", value)
    facts: dict[str, Any] = {}
    for name in HostFacts.__dataclass_fields__:
        wanted = int if name in _INTEGERS else str
        held = found.get(name, "" if name == "nodeVersion" else None)
        if isinstance(held, bool) or not isinstance(held, wanted):
            raise UnusableBaseline(f"its host has no usable {name}")
        facts[name] = held
    return HostFacts(**facts)


def differences(then: HostFacts | None, now: HostFacts) -> Mapping[str, tuple[object, object]]:
    """Return what differs between two machines, by name. Informational: it decides nothing."""
    if then is None:
        return {"host": ("unknown", now.hostname)}
    before, after = asdict(then), asdict(now)
    return {
        name: (before[name], after[name])
        for name in after
        if before[name] != after[name] and (name != "nodeVersion" or (before[name] and after[name]))
    }
