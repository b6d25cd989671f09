"""JSON that comes in pieces, redacted item by item.

`kubectl get -o json` writes one object with `items`; each item is parsed, redacted and written
before the next one is held, so memory is that of the largest item. What nothing was taken from is
written as it came. A document that cannot be read is not shown: its structure said what is secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from truepenny.diagnose.reader_document import sanitized
from truepenny.text.control import ControlStripper
from truepenny.text.redact import Redactor

from .document import MAX_VALUE, unsaid_kind
from .json_path import ALL, Step, line_of, select

MAX_RETAINED = 4 * MAX_VALUE
"""Characters of a list from which a path takes what cannot be taken item by item."""

GROWTH = 2
"""A value that was not whole is tried again when the text held has grown by this, or else parsing
would cost the square of its length."""

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_ESCAPES = ("\\u", "\\b", "\\f", "\\r", "\x7f")
"""Without one of these, ASCII JSON has no character that could be a control."""

_TOKEN = re.compile(r"[-+.0-9A-Za-z]")


class _Unfinished(Exception):
    """More text is needed."""


class _Unreadable(Exception):
    """It is no JSON; the argument says why."""


class JsonStream:
    """Redacts JSON that comes in pieces: one document or several, of any kind.

    With `steps` it returns what the path leads to in each document, one result a line; `[]` right
    below `items` needs no more memory. `counts` grows by rule name. `lost` says why a part is not
    shown, empty where all is. `unread` is true where the text began as no document: it was
    redacted line by line.
    """

    def __init__(self, redactor: Redactor, steps: Sequence[Step] | None = None) -> None:
        self.unread = False
        self.lost = ""
        self.withheld = 0
        """Characters that were not shown."""
        self._redactor = redactor
        self._walk = redactor.walk()
        self._known = len(redactor.known)
        self._steps = steps
        self._each = None if steps is None else _below_items(steps)
        self._retained = 0
        self._plain = redactor.stream()
        self._stripper = ControlStripper()
        self._twice = False
        self._decoder = json.JSONDecoder(object_pairs_hook=self._pairs)
        self._parts: list[str] = []
        self._held = 0
        self._need = 0
        self._text = ""
        self._at = 0
        self._final = False
        self._place: Literal["start", "item", "tail"] = "start"
        self._head: dict[str, Any] = {}
        self._first = True
        self._out: list[str] = []

    @property
    def counts(self) -> dict[str, int]:
        """What was masked, by rule."""
        counts = dict(self._walk.counts)
        for name, count in self._plain.counts.items():
            counts[name] = counts.get(name, 0) + count
        return counts

    def feed(self, text: str) -> str:
        """Take the next piece; return what is certain. With `steps` it may raise BadPath."""
        if self.unread:
            return self._plain.feed(self._stripper.feed(text))
        self._parts.append(text)
        self._held += len(text)
        if self.lost:
            self._drop()
        elif self._held >= self._need:
            self._drain()
        return self._taken()

    def finish(self) -> str:
        """Return the rest."""
        self._final = True
        if not self.unread and not self.lost:
            self._drain()
        if self.unread:
            self._out.append(self._plain.feed(self._stripper.finish()) + self._plain.finish())
        elif not self.lost and (self._place != "start" or self._text):
            self._lose("the document ends in the middle")
        return self._taken()

    def _taken(self) -> str:
        text, self._out = "".join(self._out), []
        return text

    def _drain(self) -> None:
        self._text = "".join((self._text, *self._parts))
        self._parts = []
        if len(self._redactor.known) != self._known:
            self._known = len(self._redactor.known)
            self._walk.forget()
        steps = {"start": self._start, "item": self._item, "tail": self._tail}
        self._need = 0
        try:
            while steps[self._place]():
                pass
        except _Unfinished:
            left = len(self._text) - self._at
            self._need = left * GROWTH
            if left > MAX_VALUE:
                self._lose(f"a value is longer than {MAX_VALUE} characters")
        except _Unreadable as error:
            self._lose(str(error))
        self._text, self._at = self._text[self._at :], 0
        self._held = len(self._text)

    def _lose(self, why: str) -> None:
        self.lost = why
        self._drop()

    def _drop(self) -> None:
        """Count what is not shown, and hold none of it."""
        self.withheld += len(self._text) - self._at + sum(map(len, self._parts))
        self._text, self._parts, self._at, self._held = "", [], 0, 0

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Make an object. A name that comes twice hides a value, which the text still shows."""
        made = dict(pairs)
        self._twice |= len(made) != len(pairs)
        return made

    def _start(self) -> bool:
        """Take the beginning of a document; return False where the text is used up."""
        begin = self._skip(self._at)
        if begin == len(self._text):
            self._write(self._text[self._at :])
            self._at = begin
            return False
        char = self._text[begin]
        if char not in "{[":
            # What the API server or kubectl says in the place of a document.
            self.unread = True
            self._out.append(self._plain.feed(self._stripper.feed(self._text[self._at :])))
            self._at = len(self._text)
            return False
        self._twice = False
        if char == "[":
            value, end = self._value(begin)
            self._document(value, begin, end)
            return True
        head: dict[str, Any] = {}
        at = begin + 1
        while True:
            name, at, closed = self._name(at, first=not head)
            if closed:
                self._document(head, begin, at)
                return True
            if name == "items" and self._text.startswith("[", at):
                self._open(head, begin, at + 1)
                return True
            value, at = self._value(at)
            self._twice |= name in head
            head[name] = value

    def _document(self, value: Any, begin: int, end: int) -> None:
        """A document without items that come one by one."""
        self._write(self._text[self._at : begin])
        if self._steps is None:
            self._show(value, self._text[begin:end], "")
        else:
            self._project(self._clean(value, ""))
        self._at = end

    def _open(self, head: dict[str, Any], begin: int, end: int) -> None:
        """A list: from here on one item after the other."""
        self._head, self._first, self._place = head, True, "item"
        self._write(self._text[self._at : begin])
        if self._steps is None:
            before = sum(self._walk.counts.values())
            clean = self._clean(head, "")
            if clean == head and sum(self._walk.counts.values()) == before and not self._twice:
                self._out.append(self._text[begin:end])
            else:
                members = json.dumps(clean, ensure_ascii=False)[1:-1]
                self._out.append("{" + members + (", " if members else "") + '"items": [')
        self._at = end

    def _item(self) -> bool:
        at, closed = self._comma(self._at, "]", first=self._first)
        if closed:
            self._write(self._text[self._at : at])
            self._at, self._place = at, "tail"
            return True
        self._twice = False
        value, end = self._value(at)
        kind = self._head.get("kind")
        kind = kind.removesuffix("List") if isinstance(kind, str) else ""
        self._write(self._text[self._at : at])
        self._first = False
        if self._steps is None:
            self._show(value, self._text[at:end], kind)
        elif self._each is not None:
            self._emit(self._clean(value, kind, self._text[at:end]), self._each, many=True)
        else:
            self._retain(end - at)
            self._head.setdefault("items", []).append(self._clean(value, kind))
        self._at = end
        return True

    def _tail(self) -> bool:
        """Take a member that comes after the items, or the end of the list."""
        name, at, closed = self._name(self._at, first=False)
        if closed:
            self._write(self._text[self._at : at])
            self._at, self._place = at, "start"
            if self._steps is not None and self._each is None:
                items = self._head.pop("items", [])
                self._project({**self._clean(self._head, ""), "items": items})
            return True
        self._twice = False
        value, end = self._value(at)
        if self._steps is not None:
            self._retain(end - at)
            self._head[name] = value
        else:
            before = sum(self._walk.counts.values())
            member = {name: value}
            # A second list, or data that a kind would explain, is not told apart here.
            clean = self._clean(member, "Secret")
            if clean == member and sum(self._walk.counts.values()) == before and not self._twice:
                self._out.append(self._text[self._at : end])
            else:
                self._out.append(", " + json.dumps(clean, ensure_ascii=False)[1:-1])
        self._at = end
        return True

    def _retain(self, size: int) -> None:
        self._retained += size
        if self._retained > MAX_RETAINED:
            raise _Unreadable(f"what this path asks for is longer than {MAX_RETAINED} characters")

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return space.end() if space else at

    def _char(self, at: int) -> tuple[str, int]:
        """Return the next character that is no space, and where it stands."""
        at = self._skip(at)
        if at == len(self._text):
            raise _Unreadable("the document ends in the middle") if self._final else _Unfinished
        return self._text[at], at

    def _comma(self, at: int, end: str, *, first: bool) -> tuple[int, bool]:
        """Return where the next element begins, or where the list ends."""
        char, at = self._char(at)
        if char == end:
            return at + 1, True
        if not first:
            if char != ",":
                raise _Unreadable("no JSON: a comma is missing")
            _, at = self._char(at + 1)
        return at, False

    def _name(self, at: int, *, first: bool) -> tuple[str, int, bool]:
        """Return a member's name and where its value begins, or that the object ends."""
        at, closed = self._comma(at, "}", first=first)
        if closed:
            return "", at, True
        if self._text[at] != '"':
            raise _Unreadable("no JSON: a name is missing")
        name, at = self._value(at)
        char, at = self._char(at)
        if char != ":":
            raise _Unreadable("no JSON: a colon is missing")
        _, at = self._char(at + 1)
        return name, at, False

    def _value(self, at: int) -> tuple[Any, int]:
        """Parse the value at a place; return it and where it ends."""
        try:
            value, end = self._decoder.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            if self._final:
                raise _Unreadable(
                    f"it is no JSON, or its end is missing: {error.msg.lower()}"
                ) from None
            raise _Unfinished from None
        except RecursionError:
            raise _Unreadable("it is nested too deep") from None
        if end == len(self._text) and not self._final and _TOKEN.match(self._text, end - 1):
            raise _Unfinished  # a number may go on
        return value, end

    def _write(self, text: str) -> None:
        if self._steps is None and text:
            self._out.append(text)

    def _project(self, document: Any) -> None:
        self._emit(document, self._steps or ())

    def _emit(self, value: Any, steps: Sequence[Step], *, many: bool = False) -> None:
        self._out.extend(line_of(one) for one in select(value, steps, many=many))

    def _clean(self, value: Any, kind: str, text: str = "\x7f") -> Any:
        if _strange(text):
            value, _ = sanitized(value)
        return self._walk.value(value, unsaid_kind(value, kind))

    def _show(self, value: Any, text: str, kind: str) -> None:
        before = sum(self._walk.counts.values())
        clean, controls = sanitized(value) if _strange(text) else (value, 0)
        redacted = self._walk.value(clean, unsaid_kind(clean, kind))
        if not controls and not self._twice and sum(self._walk.counts.values()) == before:
            self._out.append(text)
            return
        indent = _indent(text)
        written = json.dumps(redacted, ensure_ascii=False, indent=indent)
        if indent is not None:
            last = text.rpartition("\n")[2]
            margin = " " * (len(last) - len(last.lstrip(" ")))
            written = written.replace("\n", f"\n{margin}")
        self._out.append(written)


def _strange(text: str) -> bool:
    return not text.isascii() or any(escape in text for escape in _ESCAPES)


def _below_items(steps: Sequence[Step]) -> Sequence[Step] | None:
    """Return the rest of a path that begins with each item; None for any other path."""
    if len(steps) >= 2 and steps[0] == ("key", "items") and steps[1] == ALL:
        return steps[2:]
    return None


def _indent(text: str) -> int | None:
    """Return by how much a text is indented, None where it stands on one line."""
    lines = text.split("\n", 2)
    if len(lines) < 2:
        return None
    last = text.rpartition("\n")[2]
    deep, flat = (len(line) - len(line.lstrip(" ")) for line in (lines[1], last))
    return max(deep - flat, 1)
