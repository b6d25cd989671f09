"""What one read came back with. A read that failed says nothing about the cluster but that."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from .fields import Object, objects

_FORBIDDEN = re.compile(r"^Error from server \(Forbidden\): ([a-z0-9.-]+)", re.MULTILINE)
_NO_KIND = re.compile(r"the server doesn't have a resource type \"([^\"]+)\"")
_CUT_KEY = "_cut"
"""Set by the kubectl tool in a list of which not all items are shown."""
_MASK_FOR_BRACE = re.compile(r":(\[REDACTED:[^\]\"]+\])(?=\")")
_BARE_MASK = re.compile(r":(\[REDACTED:[^\]\"]+\])(?=[,}\]])")
_DECODER = json.JSONDecoder()


class Status(StrEnum):
    """How a read ended."""

    OK = "ok"
    NO_MATCH = "no_match"
    """It ran and the named thing is not there."""
    FORBIDDEN = "forbidden"
    TRUNCATED = "truncated"
    """A prefix: what is in it is real, what is not in it is unknown."""
    FAILED = "failed"
    """Not answered (transport, refused, timeout, malformed); `reason` says which."""

    @property
    def readable(self) -> bool:
        """Whether the content is an answer, whole or in part."""
        return self in (Status.OK, Status.NO_MATCH, Status.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Observation:
    """One read's answer.

    `id` is what findings cite. `objects` holds the decoded items of a JSON answer. `absent` gives,
    for a list over several kinds, the status of each kind that was not answered.
    """

    id: str
    argv: tuple[str, ...]
    status: Status
    text: str = ""
    objects: tuple[Object, ...] = ()
    reason: str = ""
    absent: Mapping[str, Status] = field(default_factory=dict[str, Status])
    unsure: frozenset[str] = frozenset()
    """Kinds of which nothing came, in an answer that was refused in part without saying which."""

    @property
    def wants_json(self) -> bool:
        """Whether JSON was asked for."""
        return "json" in self.argv


_NO_SUCH_THING = frozenset({"not_found", "no_previous", "container_waiting", "unknown_resource"})
"""Reasons that are an answer: there is no such object, log or kind."""


def status_of(outcome: str, reason: str) -> Status:
    """Translate a tool result's outcome and reason; what is not known is a failed read."""
    if reason == "forbidden":
        return Status.FORBIDDEN
    if reason in _NO_SUCH_THING or outcome == "no_match":
        return Status.NO_MATCH
    if outcome == "success":
        return Status.OK
    return Status.TRUNCATED if outcome == "truncated" else Status.FAILED


def observe(
    id: str,
    argv: tuple[str, ...],
    status: Status,
    text: str,
    reason: str = "",
    value: Any = None,
) -> Observation:
    """Build an observation from the text of an answer: decodes JSON where it was asked for.

    `value` is the decoded document where the caller has it whole; `text` is then not decoded.

    A JSON list that was cut keeps its whole items; a malformed one is a failed read. Of a list
    over several kinds, those that the server refused are named in `absent`.
    """
    if "json" not in argv:
        return Observation(id, argv, status, text, (), reason)
    items, whole = decode(text) if value is None else unpack(value)
    absent = {match[1].split(".")[0]: Status.FORBIDDEN for match in _FORBIDDEN.finditer(text)}
    absent |= {match[1].split(".")[0]: Status.NO_MATCH for match in _NO_KIND.finditer(text)}
    if items is None:
        if status is Status.OK:
            return Observation(id, argv, Status.FAILED, text, (), "malformed_json", absent)
        return Observation(id, argv, status, text, (), reason, absent)
    if not whole or status is Status.TRUNCATED:
        return Observation(id, argv, Status.TRUNCATED, "", tuple(items), reason or "cut", absent)
    # Some kinds were answered: the read as a whole stands, and `absent` names the others.
    unsure: frozenset[str] = frozenset()
    kinds = frozenset(argv[1].split(",")) if len(argv) > 1 else frozenset[str]()
    if not status.readable and not kinds & absent.keys():
        came = {form for item in items for form in _plurals(str(item.get("kind", "")).lower())}
        unsure = frozenset(kind for kind in kinds if kind.split(".")[0] not in came)
    return Observation(id, argv, Status.OK, "", tuple(items), reason, absent, unsure)


def _plurals(kind: str) -> tuple[str, ...]:
    return f"{kind}s", f"{kind}es", f"{kind[:-1]}ies"


def decode(text: str) -> tuple[list[Object] | None, bool]:
    """Return the items of the first JSON object in the text, and whether it was whole.

    None when there is no JSON object. A cut list yields the items before the cut.
    """
    start = next((m.start() for m in re.finditer(r"^\s*\{", text, re.MULTILINE)), -1)
    if start < 0:
        return None, False
    start = text.index("{", start)
    # Masking text that is JSON can eat an opening brace or leave a mask without quotes.
    for written in (text, _mend(text)):
        try:
            return unpack(_DECODER.raw_decode(written, start)[0])
        except ValueError:
            continue
    salvaged = _salvage(_mend(text), start)
    return (salvaged, False) if salvaged else (None, False)


def _mend(text: str) -> str:
    """Make JSON of text in which masks stand bare: `:[REDACTED:x]"a":1}` and `:[REDACTED:x],`."""
    opened = _MASK_FOR_BRACE.sub(r':{"_masked":"\1",', text)
    return _BARE_MASK.sub(r':"\1"', opened)


def unpack(value: Any) -> tuple[list[Object] | None, bool]:
    """Return the items of a decoded document and whether it is whole; None for no object."""
    if not isinstance(value, dict):
        return None, False
    found = cast("Object", value)
    # What the kubectl tool writes in place of a document that is over its limit.
    if found.get("error") == "too_large" and "kind" not in found:
        return [], False
    if "items" in found:
        return objects(found, "items"), _CUT_KEY not in found
    return [found], True


def _salvage(text: str, start: int) -> list[Object]:
    """Decode the whole items at the front of a cut `{"items":[...` list."""
    opening = re.compile(r'"items"\s*:\s*\[').search(text, start)
    found: list[Object] = []
    position = opening.end() if opening else len(text)
    while position < len(text):
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        try:
            value: Any
            value, position = _DECODER.raw_decode(text, position)
        except ValueError:
            break
        if isinstance(value, dict):
            found.append(cast("Object", value))
    return found
