"""The tool `edit`: change a part of a text file and nothing else (tools spec 2.3).

Edits are written with line feeds; a file with CRLF line ends keeps them, and a byte order mark
stays. `detail` is that of write and `edits`: [{`line` (first, from 1, before the change), `match`
(`exact` or `folded`), `places`}], `line_endings`, `bom`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from truepenny.model.json_value import mapping, sequence
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Result

from .access import FileAccess
from .diff import diff
from .fault import FileFault, failure, invalid_path, refused_place
from .match import MOST_PLACES, Span, find_spans, spliced, without_indentation
from .place import Place
from .replace import opened_alone, replace
from .work import changed_once
from .write import CONTENT_BYTES, changed_result

EDIT_BYTES = 25_000_000
"""The largest file that is edited (assistant spec 2.8)."""

MOST_EDITS = 200
"""Edits of one call."""

_BOM = b"\xef\xbb\xbf"

_EDIT: Mapping[str, Any] = {
    "old_text": {"type": "string", "description": "What is there now; it must be unique."},
    "new_text": {"type": "string", "description": "What is to be there."},
    "replace_all": {"type": "boolean", "description": "Replace every exact place, not the one."},
}

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file; relative to the workspace."},
        **_EDIT,
        "edits": {
            "type": ["array", "string"],
            "description": "Several edits of the same file, all or none, in place of old_text.",
            "items": {
                "type": "object",
                "properties": dict(_EDIT),
                "required": ["old_text", "new_text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """One wanted change, with line feeds."""

    old: str
    new: str
    every: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One place and what takes it."""

    span: Span
    text: str


def edit_tool(files: FileAccess) -> Tool:
    """Return the tool."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return await changed_once(lambda: edit(files, arguments))

    return Tool(
        name="edit",
        description=(
            "Replace text in a file. old_text must be there exactly once; quotes, dashes and "
            "blanks at line ends may differ where nothing fits exactly, indentation may not. All "
            "other bytes stay as they are."
        ),
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.WRITE,
        plane=Plane.MUTATE,
        concurrency="sequential",
        timeout=60.0,
        example={"path": "app.py", "old_text": "retries = 1", "new_text": "retries = 3"},
    )


def edit(files: FileAccess, arguments: Mapping[str, Any]) -> Result:
    """Edit; raises FileFault, and then the file is as it was. Blocking: for a thread."""
    wanted = _wanted(arguments)
    with opened_alone(files, arguments["path"]) as place:
        if place.found is None:
            hint = "use write for a new file"
            raise FileFault("not_found", f"there is no {place.path}", hint)
        raw, seen = _content(place)
        text = _decoded(raw, place)
        crlf = _crlf(text, place)
        body = text.replace("\r\n", "\n") if crlf else text
        changes, about = _changes(body, wanted, place)
        after = apply(body, changes)
        if after == body:
            raise invalid_path("no_change", "the edits leave the file as it is")
        data = (after.replace("\n", "\r\n") if crlf else after).encode("utf-8")
        bom = raw.startswith(_BOM)
        done = replace(place, (_BOM if bom else b"") + data, seen)
    more = {
        "bytes": len(data) + len(_BOM) * bom,
        "lost_final_newline": body.endswith("\n") and not after.endswith("\n"),
        "edits": about,
        "line_endings": "crlf" if crlf else "lf",
        "bom": bom,
    }
    count, folded = len(changes), sum(change.span.kind == "folded" for change in changes)
    line = f"edited {place.path}: {count} {'place' if count == 1 else 'places'}"
    if folded:
        line += f", {folded} found by what looks the same, not by the same characters"
    return changed_result(place, done, diff(body, after), more, line)


def apply(text: str, changes: list[Change]) -> str:
    """Put changes, in order and not overlapping, into a text; nothing else is touched."""
    out: list[str] = []
    at = 0
    for change in changes:
        out += (text[at : change.span.start], change.text)
        at = change.span.stop
    return "".join((*out, text[at:]))


def _wanted(arguments: Mapping[str, Any]) -> list[Edit]:
    given: Any = arguments.get("edits")
    single = "old_text" in arguments or "new_text" in arguments
    if single == (given is not None):
        raise invalid_path("edits", "give old_text and new_text, or edits; one of the two")
    if isinstance(given, str):  # some models write the array as text
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise invalid_path("edits", "edits is a text that is not JSON") from None
    items = [arguments] if single else sequence(given)
    if not 0 < len(items) <= MOST_EDITS:
        raise invalid_path("edits", f"edits is an array of 1 to {MOST_EDITS} edits")
    return [_edit(item, number) for number, item in enumerate(items, 1)]


def _edit(item: object, number: int) -> Edit:
    found = mapping(item)
    old, new = found.get("old_text"), found.get("new_text")
    if not isinstance(old, str) or not isinstance(new, str):
        raise invalid_path("edits", f"edit {number} needs old_text and new_text, both texts")
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    problem = ""
    if not old:
        problem = "old_text is empty; use write for a new file"
    elif old == new:
        problem = "old_text and new_text are the same"
    elif "\r" in new:
        problem = "new_text has a carriage return without a line feed"
    elif "\0" in new:
        problem = "new_text has a NUL character"
    elif len(new) > CONTENT_BYTES:
        problem = f"new_text is longer than {CONTENT_BYTES}"
    elif any("\ud800" <= char <= "\udfff" for char in new):
        problem = "new_text has half a character"
    if problem:
        raise invalid_path("edits", f"edit {number}: {problem}")
    return Edit(old, new, bool(found.get("replace_all")))


def _content(place: Place) -> tuple[bytes, os.stat_result]:
    try:
        handle = place.open_file()
        try:
            seen = os.fstat(handle)
            data = bytearray()
            while len(data) <= EDIT_BYTES and (part := os.read(handle, 1 << 20)):
                data += part
        finally:
            os.close(handle)
    except OSError as error:
        raise failure(error, place.path, "Reading") from error
    if len(data) > EDIT_BYTES:
        raise refused_place(
            "too_large",
            f"{place.path} is larger than the {EDIT_BYTES} bytes that are edited",
            "use a command such as sed",
        )
    return bytes(data), seen


def _decoded(raw: bytes, place: Place) -> str:
    nul = raw.find(b"\0")
    if nul >= 0:
        message = f"{place.path} is binary: there is a NUL byte at offset {nul}"
        raise refused_place("binary", message, offset=nul)
    skip = len(_BOM) if raw.startswith(_BOM) else 0
    try:
        return raw[skip:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + skip
        raise refused_place(
            "invalid_utf8",
            f"{place.path} is not UTF-8: byte 0x{raw[at]:02x} at offset {at}",
            "nothing was changed; edit it with a command that works on bytes",
            offset=at,
        ) from None


def _crlf(text: str, place: Place) -> bool:
    """Return whether all lines end with CRLF; other than all or none is refused."""
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if returns != pairs:
        reason, what = "bare_carriage_return", "has carriage returns without a line feed"
    elif pairs not in (0, feeds):
        reason, what = "mixed_line_endings", f"has {pairs} CRLF line ends among {feeds}"
    else:
        return pairs > 0
    raise refused_place(
        reason,
        f"{place.path} {what}",
        "make its line ends one kind first, or edit it with a command that works on bytes",
    )


def _changes(
    text: str, wanted: list[Edit], place: Place
) -> tuple[list[Change], list[dict[str, Any]]]:
    found: list[tuple[Change, int]] = []
    about: list[dict[str, Any]] = []
    for number, item in enumerate(wanted, 1):
        spans = find_spans(text, item.old)
        if item.every and spans and spans[0].kind == "exact":
            spans = _apart(spans)
            if len(spans) >= MOST_PLACES:
                message = f"edit {number}: old_text is at {MOST_PLACES} places or more"
                raise refused_place("too_many_places", message, "use a command such as sed")
        elif len(spans) != 1:
            raise _not_one(text, item, spans, number, place)
        for span in spans:
            new = item.new
            if span.kind == "folded":
                new = spliced(text[span.start : span.stop], item.old, new)
            found.append((Change(span, new), number))
        line = text.count("\n", 0, spans[0].start) + 1
        about.append({"line": line, "match": spans[0].kind, "places": len(spans)})
    found.sort(key=lambda pair: pair[0].span.start)
    for (one, first), (two, second) in pairwise(found):
        if two.span.start < one.span.stop:
            raise invalid_path(
                "overlap",
                f"edits {first} and {second} change the same text",
                "join them into one edit",
            )
    return [change for change, _ in found], about


def _apart(spans: list[Span]) -> list[Span]:
    """Return the places that do not overlap, from the first on."""
    out: list[Span] = []
    for span in spans:
        if not out or span.start >= out[-1].stop:
            out.append(span)
    return out


def _not_one(text: str, item: Edit, spans: list[Span], number: int, place: Place) -> FileFault:
    if spans:
        lines = [text.count("\n", 0, span.start) + 1 for span in spans[:5]]
        more = "+" if len(spans) >= MOST_PLACES else ""
        return FileFault(
            "ambiguous",
            f"edit {number}: old_text is at {len(spans)}{more} places of {place.path}; "
            f"the first begin at lines {', '.join(map(str, lines))}",
            "add lines around it until it is unique, or set replace_all",
            detail={"places": len(spans), "lines": lines},
        )
    other = without_indentation(text, item.old)
    hint = "read the file again: old_text must be what is there now"
    if other is not None:
        hint = f"at line {other} it is there with other indentation; give the indentation as it is"
    return FileFault("absent", f"edit {number}: old_text is not in {place.path}", hint)
