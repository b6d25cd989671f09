"""The tool `write`: a file's whole new content (tools spec 2.2).

`detail`: `path` (real), `created`, `bytes`, `linked`, `before` and `after` (identities),
`made_directories`, `durable` and `warning` (whether it would survive a power cut), `diff` or
`diff_skipped` with the reason, `first_changed_line`, `lost_final_newline`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from truepenny.model.message import Text
from truepenny.text.control import strip_control
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import ByteCounts, Facts, Result

from .access import FileAccess
from .diff import DIFF_SOURCE_BYTES, Diff, diff
from .fault import failure, invalid_path
from .place import Place
from .replace import opened_alone, replace
from .work import changed_once

CONTENT_BYTES = 16 * 1024 * 1024
"""The largest content of one call: half of what a frame to the tool server carries."""

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file; relative to the workspace."},
        "content": {"type": "string", "description": "The whole new content."},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


def write_tool(files: FileAccess) -> Tool:
    """Return the tool."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return await changed_once(lambda: write(files, arguments))

    return Tool(
        name="write",
        description=(
            "Write a file's whole content, UTF-8; directories are made and what was there is "
            "replaced, all of it or nothing. To change part of a file use edit."
        ),
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.WRITE,
        plane=Plane.MUTATE,
        concurrency="sequential",
        timeout=60.0,
        example={"path": "notes/todo.md", "content": "- first\n"},
    )


def write(files: FileAccess, arguments: Mapping[str, Any]) -> Result:
    """Write; raises FileFault. Blocking: for a thread."""
    try:
        data = str(arguments["content"]).encode("utf-8")
    except UnicodeEncodeError as error:
        raise invalid_path(
            "content", f"the content has half a character at position {error.start}"
        ) from None
    if len(data) > CONTENT_BYTES:
        raise invalid_path(
            "content", f"the content has {len(data)} bytes; one call writes at most {CONTENT_BYTES}"
        )
    with opened_alone(files, arguments["path"]) as place:
        before = _before(place)
        done = replace(place, data, place.found)
    return changed_result(
        place,
        done,
        _compared(before, data),
        {"bytes": len(data), "lost_final_newline": _lost_newline(before, data)},
        f"{'wrote' if place.found else 'created'} {place.path}: {len(data)} bytes",
    )


def changed_result(
    place: Place, done: Mapping[str, Any], found: Diff, more: Mapping[str, Any], line: str
) -> Result:
    """Return the result of a change that is in place."""
    hints = [
        f"it may not survive a power cut: {done['warning']}" if done["warning"] else "",
        "the file has no line break at its end any more" if more.get("lost_final_newline") else "",
    ]
    detail = {
        "path": str(place.path),
        "created": place.found is None,
        "linked": place.linked,
        **done,
        **more,
        "first_changed_line": found.first_line,
        **({"diff_skipped": found.skipped} if found.skipped else {"diff": found.text}),
    }
    body = f"no diff: {found.skipped}" if found.skipped else strip_control(found.text)
    body = body or "the content is the same"
    size = int(more["bytes"])
    facts = Facts(hint="; ".join(filter(None, hints)), bytes=ByteCounts(size, size), detail=detail)
    return Result(Outcome.SUCCESS, (Text(f"{line}\n{body}"),), facts)


def _before(place: Place) -> bytes | None:
    """Return the content before, as far as a diff needs it; None where there was no file."""
    if place.found is None:
        return None
    try:
        handle = place.open_file()
        try:
            return _read(handle, DIFF_SOURCE_BYTES + 1)
        finally:
            os.close(handle)
    except OSError as error:
        raise failure(error, place.path, "Reading") from error


def _read(handle: int, most: int) -> bytes:
    data = bytearray()
    while len(data) < most and (part := os.read(handle, most - len(data))):
        data += part
    return bytes(data)


def _compared(before: bytes | None, after: bytes) -> Diff:
    if before is None:
        before = b""
    if max(len(before), len(after)) > DIFF_SOURCE_BYTES:
        return Diff(skipped=f"a side is larger than {DIFF_SOURCE_BYTES} bytes")
    try:
        return diff(before.decode("utf-8"), after.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Diff(skipped=f"what was there is not UTF-8 (offset {error.start})")


def _lost_newline(before: bytes | None, after: bytes) -> bool:
    if not before or len(before) > DIFF_SOURCE_BYTES:
        return False
    return before.endswith(b"\n") and bool(after) and not after.endswith(b"\n")
