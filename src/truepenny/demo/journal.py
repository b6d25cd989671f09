"""Container logs of an incident, each line with the moment at which it was written.

A log file has one entry a line: WHEN, a space, the text.

    @-5m3s text            written five minutes and three seconds before now
    +0.4s text             written 0.4 s after the container instance started
    @-30m/10s text         repeated every ten seconds, until now or until the instance ended
    +2s/5s*4 text          repeated four times, five seconds apart

A line without WHEN belongs to the moment of the one before it (stack traces). Lines that fall
outside the life of the instance do not exist. In the text, `{ts}` is the line's moment, `{n}`
counts repeats, `{ms}` and `{hex}` are made-up figures, `{host}` and `{ip}` are the pod's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from truepenny.demo import identity
from truepenny.demo.timeline import Timeline, duration, parse

_WHEN = re.compile(r"([@+]-?)([\d.dhms]+)(?:/([\d.dhms]+)(?:\*(\d+))?)? ?(.*)")


@dataclass(frozen=True, slots=True)
class Instance:
    """One run of a container: when it began, when it ended or what time it is."""

    started: datetime
    ended: datetime


def instance(status: dict[str, Any], timeline: Timeline, *, previous: bool) -> Instance | None:
    """Return the run whose log a kubelet would show, None when there is none to show.

    While a container waits to be restarted, its current log is that of the run that ended.
    """
    state, last = status["state"], status["lastState"].get("terminated")
    ended = last if previous or "waiting" in state else state.get("terminated")
    if ended:
        return Instance(parse(ended["startedAt"]), parse(ended["finishedAt"]))
    if previous or "running" not in state:
        return None
    return Instance(parse(state["running"]["startedAt"]), timeline.now)


def read_log(
    path: Path,
    run: Instance,
    timeline: Timeline,
    names: Callable[[str], str],
    facts: dict[str, str],
) -> str:
    """Return the log as lines of `<RFC 3339 with nanoseconds> <text>`, in order of time."""
    rows = [
        row
        for row in _rows(path.read_text(encoding="utf-8"), run, timeline, facts["{host}"])
        if run.started <= row[0] <= run.ended
    ]
    rows.sort(key=lambda row: row[0])  # stable: lines of one moment keep their order
    return "".join(
        f"{_nano(moment, nth)} {_fill(text, moment, count, nth, names, facts)}\n"
        for nth, (moment, count, text) in enumerate(rows)
    )


def _rows(
    text: str, run: Instance, timeline: Timeline, salt: str
) -> Iterator[tuple[datetime, int, str]]:
    moment = run.started
    for line in text.splitlines():
        match = _WHEN.fullmatch(line)
        if match is None:
            yield moment, 0, line
            continue
        sign, offset, step, times, rest = match.groups()
        moment = run.started + duration(offset) if sign == "+" else timeline.ago(duration(offset))
        if step is None:
            yield moment, 0, rest
            continue
        every = duration(step)
        limit = int(times) if times else int((run.ended - moment) / every) + 1
        for nth in range(limit):
            # A little unevenness, the same in each run: real clients do not tick.
            jitter = every * (identity.digits(f"{salt}{rest}{nth}") % 23 / 100)
            yield moment + every * nth + (jitter if nth else timedelta()), nth, rest


def _fill(
    text: str, moment: datetime, count: int, nth: int, names: Callable[[str], str],
    facts: dict[str, str],
) -> str:  # fmt: skip
    if "{" not in text:
        return text
    key = f"{facts['{host}']}{text}{count}{nth}"
    values = {
        "{ts}": moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "{n}": str(count + 1),
        "{ms}": str(identity.digits(key) % 170 + 4),
        "{hex}": identity.hexadecimal(key, 16),
        **facts,
    }
    for token, value in values.items():
        text = text.replace(token, value)
    return names(text)


def _nano(moment: datetime, nth: int) -> str:
    """Write a moment with nine digits; the last three only tell lines of one moment apart."""
    whole = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return f"{whole}{nth % 1000:03}Z"
