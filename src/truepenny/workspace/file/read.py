"""The tool `read`: lines of a text file, or a picture (tools spec 2.1, assistant spec 2.8).

`detail`: `path` (real), `file` {bytes, mtime}, `first_line`, `last_line`, `next_offset`,
`total_lines` (None: not counted; `counted_lines` is a lower bound), `line_endings` (`lf`, `crlf`,
`mixed` or empty), `bom`, `controls` (characters not shown as they are), `final_newline` (None: its
end is not shown), `changed_while_read`. Only what is shown was checked to be UTF-8.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from truepenny.model.message import Image, Text
from truepenny.text.control import ControlStripper
from truepenny.text.redact import Redactor
from truepenny.text.sniff import SAMPLE, sniff
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import ByteCounts, Completeness, Facts, Result

from .access import FileAccess
from .fault import failure, invalid_path, refused_place
from .place import Need, Place, find_place
from .window import Window, before, from_end, from_line
from .work import Stop, looked_up

IMAGE_BYTES = 20_000_000
"""The largest picture: what the providers take (tools spec 2.1)."""

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_BOM = b"\xef\xbb\xbf"

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file; relative to the workspace."},
        "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
        "limit": {"type": "integer", "minimum": 1, "description": "Most lines (at most 2000)."},
        "tail": {
            "type": "integer",
            "minimum": 1,
            "description": "This many lines from the end, in place of offset and limit.",
        },
        "line_numbers": {"type": "boolean", "description": "Put its number before each line."},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def read_tool(files: FileAccess) -> Tool:
    """Return the tool."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return await looked_up(lambda stop: read(files, arguments, context.redactor, stop))

    return Tool(
        name="read",
        description=(
            "Read lines of a text file (UTF-8), or look at a picture. Says how many lines there "
            "are and which offset comes next. Line breaks are shown as one line feed."
        ),
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=60.0,
        example={"path": "src/app.py", "offset": 1, "limit": 200},
    )


def read(files: FileAccess, arguments: Mapping[str, Any], redactor: Redactor, stop: Stop) -> Result:
    """Read; raises FileFault. Blocking: for a thread."""
    with find_place(files, arguments["path"], Need.READ) as place:
        handle = place.open_file()
        try:
            return _Reading(files, place, handle, redactor, stop).go(arguments)
        except OSError as error:
            raise failure(error, place.path, "Reading") from error
        finally:
            os.close(handle)


@dataclass(slots=True)
class _Shown:
    """Lines collected one by one: `size` bytes as shown, `raw` bytes of the file."""

    text: list[str] = field(default_factory=list[str])
    size: int = 0
    raw: int = 0
    count: int = 0
    cut: bool = False
    controls: int = 0
    endings: set[str] = field(default_factory=set[str])
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])


class _Reading:
    def __init__(
        self, files: FileAccess, place: Place, handle: int, redactor: Redactor, stop: Stop
    ) -> None:
        self._limits = files.limits
        self._place = place
        self._handle = handle
        self._redactor = redactor
        self._stop = stop
        self._stat = os.fstat(handle)

    def go(self, arguments: Mapping[str, Any]) -> Result:
        sample = os.pread(self._handle, SAMPLE, 0)
        if kind := _image(sample):
            return self._image(kind)
        self._require_text(sample)
        size, scan, limits = self._stat.st_size, self._limits.scan_bytes, self._limits
        tail, numbered = arguments.get("tail"), bool(arguments.get("line_numbers"))
        if tail is None:
            limit = min(arguments.get("limit") or limits.lines, limits.lines)
            wanted = arguments.get("offset") or 1
            window = from_line(self._handle, size, wanted, scan, self._stop)
            self._require_line(window, wanted)
        else:
            limit = min(tail, limits.lines)
            most = limits.shown_bytes
            window = from_end(self._handle, size, limit, most, scan, self._stop)
            if numbered and window.first is None:
                raise invalid_path(
                    "total_unknown",
                    f"{self._place.path} is larger than {scan} bytes: its lines are not counted, "
                    "so those at its end have no numbers",
                    "leave line_numbers out",
                )
        return self._result(window, self._collect(window, limit, numbered), tail)

    def _image(self, media_type: str) -> Result:
        data = bytearray()
        while len(data) <= IMAGE_BYTES and (part := os.pread(self._handle, 1 << 20, len(data))):
            self._stop.check()
            data += part
        if len(data) > IMAGE_BYTES:
            raise refused_place(
                "image_too_large",
                f"{self._place.path} is a picture of more than {IMAGE_BYTES} bytes",
                "make a smaller copy of it first",
            )
        name = self._place.name
        facts = Facts(bytes=ByteCounts(len(data), len(data)), detail=self._about())
        text = Text(f"{name}: {media_type}, {len(data)} bytes")
        return Result(Outcome.SUCCESS, (text, Image(media_type, bytes(data), name)), facts)

    def _require_text(self, sample: bytes) -> None:
        found = sniff(sample)
        if found.kind == "text":
            return
        if found.kind != "binary":
            raise refused_place(
                "encoding",
                f"{self._place.path} is {found.kind.upper()} text, not UTF-8",
                "convert a copy of it first, for example with iconv",
                encoding=found.kind,
            )
        at = found.first_nul
        what = f" ({found.format})" if found.format else ""
        where = "" if at is None else f"; the first NUL byte is at offset {at}"
        raise refused_place(
            "binary",
            f"{self._place.path} is binary{what}{where}",
            "look at it with a program for its format",
            format=found.format,
            offset=at,
        )

    def _require_line(self, window: Window, wanted: int) -> None:
        if window.start is not None:
            return
        if window.total is not None:
            raise invalid_path(
                "past_end",
                f"{self._place.path} has {window.total} lines; there is no line {wanted}",
                f"the last line is at offset {max(window.total, 1)}",
                total_lines=window.total,
            )
        raise refused_place(
            "past_scan",
            f"line {wanted} of {self._place.path} does not begin in its first "
            f"{self._limits.scan_bytes} bytes ({window.counted}+ lines); a read goes no further",
            "use tail for its end, or a command such as sed -n for its middle",
            counted_lines=window.counted,
        )

    def _collect(self, window: Window, limit: int, numbered: bool) -> _Shown:
        """Decode, sanitize, redact, number, cut; in this order, line by line."""
        start, most = window.start or 0, self._limits.shown_bytes
        stripper, stream = ControlStripper(), self._redactor.stream()
        stream.feed(stripper.feed(before(self._handle, start).decode("utf-8", "replace")))
        earlier, removed = dict(stream.counts), stripper.removed
        # Twice what is shown: what a cut line's secret needs behind the cut is there as well.
        data = os.pread(self._handle, 2 * most, start)
        at_end = start + len(data) >= self._stat.st_size
        shown, at = _Shown(), 0
        while at < len(data) and shown.count < limit and not shown.cut:
            end = data.find(b"\n", at) + 1 or len(data)
            whole = data[end - 1 : end] == b"\n" or at_end
            if not whole and shown.count:
                break
            text = self._decode(data[at:end], start + at, whole)
            out = stream.feed(stripper.feed(text))
            if not text.endswith("\n"):
                out += stream.feed(stripper.finish()) + stream.finish()
            if numbered:
                out = f"{(window.first or 0) + shown.count:>6}\t{out or chr(10)}"
            raw = out.encode("utf-8", "surrogatepass")
            if shown.size + len(raw) > most:
                if shown.count:
                    break
                raw = raw[:most]
                out, shown.cut = raw.decode("utf-8", "ignore"), True
            shown.text.append(out)
            shown.size += len(raw)
            shown.count += 1
            shown.raw += end - at
            if text.endswith("\n"):
                shown.endings.add("crlf" if text.endswith("\r\n") else "lf")
            at = end
        # What the redactor still holds is the mask of a secret that goes on behind the window.
        if shown.text and shown.text[-1].endswith("\n"):
            shown.text.append(stream.finish())
        shown.controls = stripper.removed - removed
        shown.redactions = {
            rule: count - earlier.get(rule, 0)
            for rule, count in stream.counts.items()
            if count > earlier.get(rule, 0)
        }
        return shown

    def _decode(self, raw: bytes, at: int, whole: bool) -> str:
        nul = raw.find(b"\0")
        if nul >= 0:
            raise refused_place(
                "binary",
                f"{self._place.path} is binary: there is a NUL byte at offset {at + nul}",
                "look at it with a program for its format",
                offset=at + nul,
            )
        if at == 0 and raw.startswith(_BOM):
            raw, at = raw[len(_BOM) :], len(_BOM)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            if not whole and error.reason == "unexpected end of data":
                return raw[: error.start].decode("utf-8")  # the read ended inside a character
            raise refused_place(
                "invalid_utf8",
                f"{self._place.path} is not UTF-8: byte 0x{raw[error.start]:02x} "
                f"at offset {at + error.start}",
                "read other lines, or convert a copy of it first",
                offset=at + error.start,
            ) from None

    def _about(self) -> dict[str, Any]:
        now, then = os.fstat(self._handle), self._stat
        return {
            "path": str(self._place.path),
            "file": {"bytes": then.st_size, "mtime": then.st_mtime},
            "changed_while_read": (now.st_size, now.st_mtime_ns)
            != (then.st_size, then.st_mtime_ns),
        }

    def _result(self, window: Window, shown: _Shown, tail: int | None) -> Result:
        start, size, first = window.start or 0, self._stat.st_size, window.first
        ends = start + shown.raw >= size and not shown.cut
        last = None if first is None or not shown.count else first + shown.count - 1
        more = None if ends or last is None or shown.cut else last + 1
        about = self._about()
        detail = {
            **about,
            "first_line": first if shown.count else None,
            "last_line": last,
            "next_offset": more,
            "total_lines": window.total,
            "counted_lines": max(window.counted, last or 0),
            "line_endings": "mixed" if len(shown.endings) > 1 else "".join(shown.endings),
            "bom": os.pread(self._handle, 3, 0) == _BOM,
            "controls": shown.controls,
            "final_newline": (
                os.pread(self._handle, 1, size - 1) == b"\n" if ends and size else None
            ),
        }
        hints = (
            "the file changed while it was read" if about["changed_while_read"] else "",
            f"{shown.controls} control characters are not shown as they are"
            if shown.controls
            else "",
            "the file is empty" if size == 0 else "",
        )
        facts = Facts(
            completeness=self._completeness(window, shown, ends, last, tail),
            redactions=shown.redactions,
            bytes=ByteCounts(shown.raw, shown.raw),
            hint="; ".join(filter(None, hints)),
            detail=detail,
        )
        return Result(Outcome.SUCCESS, (Text("".join(shown.text)),), facts)

    def _completeness(
        self, window: Window, shown: _Shown, ends: bool, last: int | None, tail: int | None
    ) -> Completeness:
        if shown.cut:
            which = f"line {last}" if last else "the last line"
            reason = f"{which} alone is longer than the {self._limits.shown_bytes} bytes shown"
            advice = "cut it with a command, for example cut -c or jq"
            return Completeness("partial", reason, "lines", 0, window.total, advice)
        if ends and window.first is not None and window.first <= 1:
            return Completeness()
        if window.total is not None:
            total = str(window.total)
        elif last is None:
            total = "an unknown number of"
        else:
            total = f"{max(window.counted, last)}+"
        span = f"the last {shown.count}" if last is None else f"{window.first} to {last}"
        following = "" if ends or last is None or tail is not None else f"offset={last + 1}"
        reason = f"lines {span} of {total} lines"
        return Completeness("partial", reason, "lines", shown.count, window.total, following)


def _image(sample: bytes) -> str:
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES if sample.startswith(magic)), "")
