"""Faults on demand: what goes wrong between a client and the practice cluster.

A fault is written `ACTION[:PART]...`, the parts in any order after the action:

    slow:2s                     answer after two seconds
    status:403:pods/log         answer 403 for pod logs
    status:429                  answer 429 with `Retry-After: 1`
    status:429:after=5          the same with five seconds
    status:500:0.3              answer 500 for three requests in ten, the same ones in each run
    status:503:x2               answer 503 twice, then be well
    cut:logs                    send half of the body, then drop the connection
    garbage:list                answer bytes that are no JSON
    hang:/apis                  accept, and never answer
    refuse                      nothing listens at the address
    flap:list                   cut the first answer, 503 for the second, be well for the third,
                                and so on by the number of the request

A part that names a target is a verb (`get`, `list`, `watch`, `create`), a resource (`pods`,
`pods/log`), one of the words below, or a path pattern that starts with `/`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from truepenny.errors import UsageError

ACTIONS = ("slow", "status", "cut", "garbage", "hang", "refuse", "flap")
VERBS = ("get", "list", "watch", "create")
WORDS: dict[str, str] = {
    "logs": "pods/log",
    "log": "pods/log",
    "exec": "pods/exec",
}
"""Shorter names for resources that people break often."""

PATHS: dict[str, str] = {
    "discovery": "/api*",
    "version": "/version",
    "openapi": "/openapi/*",
    "metrics": "/apis/metrics.k8s.io/*",
}
"""Words for paths. `discovery` means the indexes alone, see `Fault.matches`."""

RETRY_AFTER = 1
"""Seconds that a 429 tells a client to wait where the fault says nothing."""

LONGEST = 3600.0
"""Seconds; a longer delay is a typing error."""

FLAPPING: tuple[tuple[str, int], ...] = (("cut", 0), ("status", 503), ("", 0))
"""What a flapping server does in turn, as (action, status); no action is an answer."""

_DURATION = re.compile(r"(?P<amount>\d+(?:\.\d+)?)(?P<unit>ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_PROBABILITY = re.compile(r"0?\.\d+|1\.0+|0\.0+")
_TIMES = re.compile(r"x(?P<count>\d+)")
_RESOURCE = re.compile(r"[a-z][a-z0-9.-]*(?:/[a-z]+)?")
_DISCOVERY = re.compile(r"/api|/apis|/apis/[^/]+|/api/[^/]+|/apis/[^/]+/[^/]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong, and for which requests.

    `delay` is in seconds, `times` is how often it strikes (0 is always), `probability` is drawn
    from the request itself, so the same requests in the same order fail in each run.
    """

    action: str
    status: int = 0
    delay: float = 0.0
    verb: str = ""
    resource: str = ""
    path: str = ""
    probability: float = 1.0
    times: int = 0
    retry_after: int | None = None
    written: str = ""

    @classmethod
    def parse(cls, written: str) -> Fault:
        """Read one fault; raises UsageError that names the part which does not read."""
        action, *parts = [part.strip() for part in written.strip().split(":")]
        if action not in ACTIONS:
            raise _unreadable(written, f"'{action}' is no action", f"use {', '.join(ACTIONS)}")
        status, delay = 0, 0.0
        if action == "status":
            status = _status(written, parts)
            parts = parts[1:]
        elif action == "slow":
            delay = _delay(written, parts)
            parts = parts[1:]
        verb = resource = path = ""
        probability, times = 1.0, 0
        retry_after = RETRY_AFTER if status == 429 else None
        for part in parts:
            if _PROBABILITY.fullmatch(part):
                probability = float(part)
            elif found := _TIMES.fullmatch(part):
                times = int(found["count"])
            elif part.startswith("after=") and part[6:].isdigit():
                retry_after = int(part[6:])
            elif part in VERBS:
                verb = part
            elif part.startswith("/") or part in PATHS:
                path = part
            elif part in WORDS or _RESOURCE.fullmatch(part):
                resource = WORDS.get(part, part)
            else:
                raise _unreadable(written, f"'{part}' is no target, share or count", _HELP)
        return cls(
            action,
            status,
            delay,
            verb,
            resource,
            path,
            probability,
            times,
            retry_after,
            written.strip(),
        )

    def matches(self, path: str, verb: str, resource: str) -> bool:
        """Say whether a request is meant; `verb` and `resource` are empty for plain paths."""
        if self.verb and self.verb != verb:
            return False
        if self.resource and self.resource != resource:
            return False
        if self.path == "discovery":
            return _DISCOVERY.fullmatch(path.rstrip("/")) is not None
        if self.path:
            return fnmatchcase(path, PATHS.get(self.path, f"{self.path}*"))
        return True


_HELP = "use a verb, a resource such as pods/log, a path, a share such as 0.3 or a count such as x2"


def _unreadable(written: str, what: str, remedy: str) -> UsageError:
    return UsageError(f"cannot read the fault '{written}': {what}", where="fault", remedy=remedy)


def _status(written: str, parts: Sequence[str]) -> int:
    if not parts or not parts[0].isdigit() or not 400 <= int(parts[0]) <= 599:
        raise _unreadable(written, "no HTTP status from 400 to 599", "write status:503")
    return int(parts[0])


def _delay(written: str, parts: Sequence[str]) -> float:
    found = _DURATION.fullmatch(parts[0]) if parts else None
    seconds = float(found["amount"]) * _UNITS[found["unit"]] if found else 0.0
    if not 0 < seconds <= LONGEST:
        raise _unreadable(written, "no delay up to an hour", "write slow:2s or slow:300ms")
    return seconds


class FaultPlan:
    """The faults in force, and how often each has struck. Used from one event loop."""

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        self._faults = tuple(fault for fault in faults if fault.action != "refuse")
        self._struck = [0] * len(self._faults)
        self._met = [0] * len(self._faults)
        self._seen: dict[tuple[int, str, str], int] = {}

    def choose(self, path: str, verb: str, resource: str) -> tuple[Fault, ...]:
        """Return the faults that strike this request: delays, and at most one failure."""
        chosen: list[Fault] = []
        failed = False
        for at, fault in enumerate(self._faults):
            if failed and fault.action != "slow":
                continue
            if not fault.matches(path, verb, resource) or not self._strikes(at, fault, path, verb):
                continue
            if fault.action == "flap":
                action, status = FLAPPING[self._met[at] % len(FLAPPING)]
                self._met[at] += 1
                if not action:
                    continue
                fault = replace(fault, action=action, status=status)
            self._struck[at] += 1
            failed = failed or fault.action != "slow"
            chosen.append(fault)
        return tuple(chosen)

    def _strikes(self, at: int, fault: Fault, path: str, verb: str) -> bool:
        if fault.times and self._struck[at] >= fault.times:
            return False
        if fault.probability >= 1.0:
            return True
        key = (at, path, verb)
        nth = self._seen[key] = self._seen.get(key, 0) + 1
        # Drawn from the request and its repetition, not from a shared sequence: concurrent
        # requests cannot change each other's luck.
        drawn = zlib.crc32(f"{fault.written}|{verb} {path}|{nth}".encode()) / 2**32
        return drawn < fault.probability
