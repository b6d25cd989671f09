"""The tool `find`: files by the pattern of their path, newest first (tools spec 2.6).

`detail`: `path` (the real search root), `search` {`complete`, `reason` (`limit`, `timeout` or
empty), `seen` (entries looked at), `skipped` {reason: {`count`, `samples`}}, `gitignore`: false},
`matches` (all that were counted), `hidden` (of those, below or with a name that begins with a
dot), `links`, `order`. Links to directories are listed, never followed.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truepenny.model.message import Text
from truepenny.system.clock import Clock
from truepenny.text.control import strip_control
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.result import Completeness, Facts, Result

from .access import FileAccess
from .fault import invalid_path
from .glob import Glob
from .place import Need, find_place
from .tree import Found, Walk
from .work import Stop, looked_up

FIND_LIMIT = 500
MOST_LIMIT = 5000
"""Paths that are shown by default, and at most (tools spec 2.6)."""

FIND_BYTES = 8 * 1024
"""Bytes of paths that are shown (tools spec 2.0)."""

FIND_SECONDS = 30.0
"""After this what was found so far is the answer."""

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "description": "Like *.py (any depth) or src/**/test_*.py; {a,b} and [abc] work.",
        },
        "path": {"type": "string", "description": "Where to look; the workspace by default."},
        "order": {"type": "string", "enum": ["mtime", "path"], "description": "Newest first, or by name."},  # noqa: E501
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LIMIT},
        "include_ignored": {
            "type": "boolean",
            "description": "Also look into node_modules, dist, .venv and the like.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}  # fmt: skip


def find_tool(files: FileAccess) -> Tool:
    """Return the tool."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return await looked_up(lambda stop: find(files, arguments, context.clock, stop))

    return Tool(
        name="find",
        description=(
            "Find files and directories by a pattern of their path, hidden ones too. Says what "
            "was left out: version control, generated directories, what could not be read."
        ),
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=FIND_SECONDS + 30,
        example={"pattern": "**/*.toml"},
    )


@dataclass(slots=True)
class _Hits:
    kept: list[Found]
    matches: int = 0
    hidden: int = 0
    links: int = 0


def find(files: FileAccess, arguments: Mapping[str, Any], clock: Clock, stop: Stop) -> Result:
    """Find; raises FileFault. Blocking: for a thread."""
    try:
        glob = Glob(arguments["pattern"])
    except ValueError as error:
        raise invalid_path("pattern", str(error)) from None
    limit = arguments.get("limit") or FIND_LIMIT
    order = arguments.get("order") or "mtime"
    end = clock.monotonic() + FIND_SECONDS
    with find_place(files, arguments.get("path") or ".", Need.READ) as place:
        walk = Walk(
            files, place, bool(arguments.get("include_ignored")), stop,
            lambda: clock.monotonic() > end,
        )  # fmt: skip
        matching = (found for found in walk if glob.fits(found.path))
        hits = _newest(matching, limit) if order == "mtime" else _first(matching, limit)
    return _result(hits, walk, str(place.path), order, limit)


def _count(hits: _Hits, found: Found) -> None:
    hits.matches += 1
    hits.hidden += found.path.startswith(".") or "/." in found.path
    hits.links += found.is_link


def _newest(matching: Any, limit: int) -> _Hits:
    """Keep the newest of all of them, in memory for no more than are shown."""
    hits = _Hits([])
    heap: list[tuple[int, int, Found]] = []
    for number, found in enumerate(matching):
        _count(hits, found)
        item = (found.mtime_ns, -number, found)
        if len(heap) < limit:
            heapq.heappush(heap, item)
        else:
            heapq.heappushpop(heap, item)
    hits.kept = [found for _, _, found in sorted(heap, key=lambda item: item[:2], reverse=True)]
    return hits


def _first(matching: Any, limit: int) -> _Hits:
    hits = _Hits([])
    for found in matching:
        _count(hits, found)
        if len(hits.kept) < limit:
            hits.kept.append(found)
    return hits


def _result(hits: _Hits, walk: Walk, root: str, order: str, limit: int) -> Result:
    lines: list[str] = []
    size = 0
    for found in hits.kept:
        mark = "/" if found.is_directory else "@" if found.is_link else ""
        line = strip_control(found.path.encode("utf-8", "backslashreplace").decode() + mark)
        line = line.replace("\n", "\\n") + "\n"
        size += len(line.encode())
        if size > FIND_BYTES:
            break
        lines.append(line)
    skipped = walk.skipped.words()
    left = f"; left out: {skipped}" if skipped else ""
    shown, reason = len(lines), ""
    if not walk.complete:
        reason = "timeout"
        words = f"stopped after {FIND_SECONDS:g} s and {walk.seen} entries"
    elif shown < hits.matches:
        reason = "limit"
        words = f"{'the newest' if order == 'mtime' else 'the first'} {shown} of {hits.matches}"
    else:
        words = ""
    total = hits.matches if walk.complete else None
    unreadable = bool(walk.skipped.counts.keys() - {"version control", "generated"})
    if reason:
        narrow = "a narrower pattern or path" if reason == "limit" else "a narrower path"
        whole = Completeness("partial", words + left, "paths", shown, total, narrow)
    elif unreadable:
        whole = Completeness("partial", f"left out: {skipped}", "paths", shown, None)
    else:
        whole = Completeness()
    hint = ""
    if skipped and whole.state == "complete":
        hint = f"left out: {skipped}; .gitignore files are not looked at"
    if not hits.matches and not walk.complete:
        hint = "that nothing was found proves nothing: the search did not end"
    facts = Facts(
        completeness=whole,
        hint=hint,
        cause=Cause.TIMEOUT if reason == "timeout" else None,
        detail={
            "path": root,
            "search": {
                "complete": whole.state == "complete",
                "reason": reason,
                "seen": walk.seen,
                "skipped": walk.skipped.detail(),
                "gitignore": False,
            },
            "matches": hits.matches,
            "hidden": hits.hidden,
            "links": hits.links,
            "order": order,
            "limit": limit,
        },
    )
    if not hits.matches:
        text = f"no path below {root} fits" if whole.state == "complete" else (
            f"no path that fits was found below {root} before the search had to stop or skip"
        )  # fmt: skip
        outcome = Outcome.NO_MATCH if whole.state == "complete" else Outcome.TRUNCATED
        if not walk.complete:
            outcome = Outcome.INTERRUPTED
        return Result(outcome, (Text(text),), facts)
    return Result(Outcome.SUCCESS, (Text("".join(lines)),), facts)
