"""Where each key of a TOML text stands, as line and column, so that a complaint can point at it.

`tomllib` tells no positions. The text is one that `tomllib` has read already: this scanner only
finds keys in valid TOML and judges nothing.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

KeyPath = tuple[str | int, ...]
"""Keys from the root; an integer is an index of an array."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: line and column count characters from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


def locate(text: str) -> dict[KeyPath, Position]:
    """Return the position of every key, table header and array element of a valid TOML text.

    A table has the position of its header, or of the first key that opens it. Keys deeper than
    `MAX_DEPTH` are left out.
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.positions


MAX_DEPTH = 32
"""Twice as deep as any setting. A path costs its own length to keep, so that one key of a hundred
thousand parts would fill the memory."""


_ROOT: KeyPath = ()
_BLANK = re.compile(r"[ \t]*")
_FILL = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})', re.DOTALL),
    re.compile(r"'''.*?'''(?:'{0,2})", re.DOTALL),
    re.compile(r'"(?:[^"\\]|\\.)*"'),
    re.compile(r"'[^']*'"),
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_SIMPLE_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.positions: dict[KeyPath, Position] = {}
        self._lengths: dict[KeyPath, int] = {}
        self._breaks = [found.start() for found in re.finditer("\n", text)]

    def document(self) -> None:
        table = _ROOT
        self._skip(_FILL)
        while self.offset < len(self.text):
            if self.text[self.offset] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_FILL)

    def _header(self) -> KeyPath:
        start = self.offset
        is_array = self.text.startswith("[[", start)
        self.offset += 2 if is_array else 1
        table = _ROOT
        keys = self._dotted()
        for index, (key, _) in enumerate(keys):
            table = _below(table, key)
            last = index == len(keys) - 1
            if not last:
                self._note(table, start)
            if not (last and is_array) and table in self._lengths:
                table = _below(table, self._lengths[table] - 1)
        self._skip(_BLANK)
        self.offset += 2 if is_array else 1
        self._note(table, start)
        if is_array:
            count = self._lengths.get(table, 0)
            self._lengths[table] = count + 1
            table = _below(table, count)
            self._note(table, start)
        return table

    def _pair(self, table: KeyPath) -> None:
        path = table
        for key, start in self._dotted():
            path = _below(path, key)
            self._note(path, start)
        self._skip(_BLANK)
        self.offset += 1  # the equals sign
        self._skip(_BLANK)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        opening = self.text[self.offset]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        elif opening in "\"'":
            self._string()
        else:
            self._skip(_SCALAR)

    def _array(self, path: KeyPath) -> None:
        self.offset += 1
        index = 0
        self._skip(_FILL)
        while self.text[self.offset] != "]":
            element = _below(path, index)
            self._note(element, self.offset)
            self._value(element)
            index += 1
            self._separator()
        self.offset += 1

    def _inline_table(self, path: KeyPath) -> None:
        self.offset += 1
        self._skip(_FILL)
        while self.text[self.offset] != "}":
            self._pair(path)
            self._separator()
        self.offset += 1

    def _separator(self) -> None:
        self._skip(_FILL)
        if self.text[self.offset] == ",":
            self.offset += 1
            self._skip(_FILL)

    def _dotted(self) -> list[tuple[str, int]]:
        keys: list[tuple[str, int]] = []
        while True:
            self._skip(_BLANK)
            start = self.offset
            keys.append((self._key(), start))
            self._skip(_BLANK)
            if self.text[self.offset] != ".":
                return keys
            self.offset += 1

    def _key(self) -> str:
        if self.text[self.offset] in "\"'":
            return self._string()
        found = _BARE.match(self.text, self.offset)
        assert found is not None, "the text is valid TOML"
        self.offset = found.end()
        return found[0]

    def _string(self) -> str:
        for pattern in _STRINGS:
            found = pattern.match(self.text, self.offset)
            if found is not None:
                self.offset = found.end()
                body = found[0][1:-1]
                return _ESCAPE.sub(_unescape, body) if found[0][0] == '"' else body
        raise AssertionError("the text is valid TOML")

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.offset)
        if found is not None:
            self.offset = found.end()

    def _note(self, path: KeyPath, offset: int) -> None:
        if len(path) > MAX_DEPTH or path in self.positions:
            return
        line = bisect.bisect_left(self._breaks, offset)
        start = self._breaks[line - 1] + 1 if line else 0
        self.positions[path] = Position(line + 1, offset - start + 1)


def _below(path: KeyPath, part: str | int) -> KeyPath:
    """Return the path of a part, or, below `MAX_DEPTH`, a path that is noted nowhere."""
    return (*path, part) if len(path) <= MAX_DEPTH else path


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "uU":
        return chr(int(code[1:], 16))
    return _SIMPLE_ESCAPES.get(code, code)
