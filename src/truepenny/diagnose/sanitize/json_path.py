"""Take parts out of a JSON value: `.a.b`, `.a[0]`, `.a[-1]`, `.a[]` or `.a[*]`, `["a key"]`, `.`.

That is the whole grammar (spec/diagnostics.md 5). Filters, slices, wildcards over objects and
anything that computes are refused, never ignored: a part that was left out would read as "there is
none". Projecting comes after sanitizing, which needs the shape that projecting takes away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, cast

from truepenny.errors import UsageError

MAX_STEPS = 64
"""Steps of a path; no API object is that deep."""

MAX_PATH = 4096
"""Characters of a path."""

ALL: Final = "[]"
"""The step that stands for each item of a list; a key is `("key", name)`, an index a number."""

Step = int | tuple[Literal["key"], str] | Literal["[]"]

_NAME = re.compile(r"[A-Za-z_][\w-]*")
_INDEX = re.compile(r"\[(-?\d{1,9})\]")
_ALL = re.compile(r"\[\*?\]")
_QUOTED = re.compile(r"\[(\"(?:[^\"\\\x00-\x1f]|\\.)*\")\]")
_COMPUTED = re.compile(r"\[\s*[?(@$:]|\[[^\]\"]*:|[|(){}?,@]|\.\.|\.\*")


class BadPath(UsageError):
    """The path is not in the grammar, or leads nowhere in this document."""


def parse_path(path: str) -> tuple[Step, ...]:
    """Return the steps of a path; `.` and nothing at all are the whole. Raises BadPath."""
    if len(path) > MAX_PATH:
        raise BadPath(f"is longer than {MAX_PATH} characters", where="json_path")
    text = path.strip()
    steps: list[Step] = []
    at = 1 if text == "." else 0
    while at < len(text):
        step, at = _step(text, at, first=not steps)
        steps.append(step)
        if len(steps) > MAX_STEPS:
            raise BadPath(f"has more than {MAX_STEPS} steps", where="json_path")
    return tuple(steps)


def _step(text: str, at: int, *, first: bool) -> tuple[Step, int]:
    begin = at
    if text[at] == ".":
        at += 1
        name = _NAME.match(text, at)
        if name:
            return ("key", name.group()), name.end()
        if not text.startswith("[", at):
            raise _refused(text, begin)
    if text.startswith("[", at):
        if index := _INDEX.match(text, at):
            return int(index[1]), index.end()
        if every := _ALL.match(text, at):
            return ALL, every.end()
        if quoted := _QUOTED.match(text, at):
            try:
                return ("key", json.loads(quoted[1])), quoted.end()
            except ValueError:
                raise _refused(text, at) from None
    elif first and (name := _NAME.match(text, at)):
        return ("key", name.group()), name.end()
    raise _refused(text, begin)


def _refused(text: str, at: int) -> BadPath:
    rest = text[at : at + 40]
    why = "computes" if _COMPUTED.match(text, at) else "is no step of a path"
    return BadPath(
        f"{rest!r} at character {at} {why}",
        where="json_path",
        remedy='Steps are .name, ["a name"], [0], [-1] and []. There are no filters or functions.',
    )


def select(value: Any, steps: Sequence[Step], *, many: bool = False) -> Iterator[Any]:
    """Yield what the path leads to, one for each item where it says `[]`.

    A key that is missing, or an index beyond the end, gives None below a `[]`, as the others have
    theirs; without one it raises BadPath, as does a step into what is no object or list. `many`
    says that the value itself is one of several.
    """
    return _select(value, steps, 0, many=many)


def _select(value: Any, steps: Sequence[Step], at: int, *, many: bool) -> Iterator[Any]:
    for place in range(at, len(steps)):
        step = steps[place]
        if value is None and many:
            yield None
            return
        if step == ALL:
            if not isinstance(value, list):
                raise _lost(steps, place, f"is {_named(value)}, no list")
            for item in cast("list[Any]", value):
                yield from _select(item, steps, place + 1, many=True)
            return
        if isinstance(step, int):
            if not isinstance(value, list):
                raise _lost(steps, place, f"is {_named(value)}, no list")
            items = cast("list[Any]", value)
            if not -len(items) <= step < len(items):
                if not many:
                    raise _lost(steps, place, f"has {len(items)} items, no [{step}]")
                value = None
            else:
                value = items[step]
        else:
            if not isinstance(value, dict):
                raise _lost(steps, place, f"is {_named(value)}, no object")
            members, name = cast("dict[str, Any]", value), step[1]
            if name not in members and not many:
                known = ", ".join(list(members)[:20])
                raise _lost(steps, place, f"has no {name!r}; it has: {known or 'nothing'}")
            value = members.get(name)
    yield value


def _lost(steps: Sequence[Step], place: int, why: str) -> BadPath:
    return BadPath(f"{written(steps[:place])} {why}", where="json_path")


def written(steps: Iterable[Step]) -> str:
    """Return the path as text."""
    parts: list[str] = []
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step == ALL:
            parts.append("[]")
        else:
            name = step[1]
            parts.append(f".{name}" if _NAME.fullmatch(name) else f"[{json.dumps(name)}]")
    return "".join(parts) or "."


def _named(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"


def line_of(value: Any) -> str:
    """Write one result: a string as it is, anything else as compact JSON, on a line of its own."""
    if isinstance(value, str):
        return f"{value}\n"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
