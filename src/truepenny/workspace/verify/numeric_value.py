"""Reading the numbers that are compared: one JSON object of numbers and lists of numbers.

A reader of its own, because the usual one would build any structure before it could be counted,
keep the last of two equal keys, and round an integer without a word. NaN, Infinity and -Infinity
are read bare, as most programs write them, and as strings.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from dataclasses import dataclass, field

from .brief import brief

MAX_KEYS = 4096
MAX_ELEMENTS = 1_000_000
MAX_BYTES = 32 * 1024 * 1024
"""Of one side (tools spec 2.10). A million numbers of 17 digits are some 24 MB."""

MAX_LITERAL = 1024
"""Characters of one number; a double needs 17 digits, and 768 at most to be written out whole."""

MAX_KEY = 512
"""Characters of one key, quotes and escapes included."""

EXACT = 2**53
"""Up to here a double holds every integer."""

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NAMED = re.compile(r'"(?:NaN|-?Infinity)"|NaN|-?Infinity')
_WORD = re.compile(r'[\w."+-]{1,20}')


class Unreadable(Exception):
    """The text is no such object. `reason` is a machine word, `offset` a count of characters."""

    def __init__(self, reason: str, message: str, offset: int) -> None:
        super().__init__(f"{message} (at character {offset})")
        self.reason = reason
        self.offset = offset


@dataclass(slots=True)
class Numbers:
    """The value of one key. `literals` has, by position, the text of each number that a double
    does not hold: an integer beyond 2^53 that would be rounded, or a number that overflows."""

    values: array[float] = field(default_factory=lambda: array("d"))
    single: bool = True
    literals: dict[int, str] = field(default_factory=dict[int, str])

    def __len__(self) -> int:
        return len(self.values)

    @property
    def length(self) -> int | None:
        """How many elements; None for a single number."""
        return None if self.single else len(self.values)


NumberTable = dict[str, Numbers]


def elements(table: NumberTable) -> int:
    """Count all the numbers."""
    return sum(len(numbers) for numbers in table.values())


def read_output(text: str) -> tuple[NumberTable, bool]:
    """Read what a program printed: the whole, else from the first `{` to the last `}`.

    Return the numbers and whether the object was the whole output. Raises Unreadable.
    """
    try:
        return read_numbers(text), True
    except Unreadable as whole:
        first, last = text.find("{"), text.rfind("}")
        if first < 0 or last < first or not (text[:first].strip() or text[last + 1 :].strip()):
            raise
        try:
            return read_numbers(text, first, last + 1), False
        except Unreadable as part:
            raise part from whole


def read_numbers(text: str, start: int = 0, end: int | None = None) -> NumberTable:
    """Read one object from `start` to `end`. Raises Unreadable; offsets count from 0 of `text`."""
    reader = _Reader(text, start, len(text) if end is None else end)
    return reader.table()


class _Reader:
    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._at, self._end = text, start, end
        self._count = 0

    def table(self) -> NumberTable:
        found: NumberTable = {}
        self._take("{", "an object was expected")
        if not self._try("}"):
            while True:
                at = self._skip()
                key = self._key()
                if key in found:
                    raise Unreadable("duplicate_key", f"the key {brief(repr(key))} comes twice", at)
                if len(found) == MAX_KEYS:
                    raise Unreadable("too_many_keys", f"more than {MAX_KEYS} keys", at)
                self._take(":", "a colon was expected")
                found[key] = self._value(key)
                if self._try("}"):
                    break
                self._take(",", "a comma or the end of the object was expected")
        at = self._skip()
        if at != self._end:
            raise Unreadable("not_json", "text follows the object", at)
        return found

    def _value(self, key: str) -> Numbers:
        numbers = Numbers()
        if not self._try("["):
            self._number(numbers, key)
            return numbers
        numbers.single = False
        if self._try("]"):
            return numbers
        while True:
            self._number(numbers, key)
            if self._try("]"):
                return numbers
            self._take(",", "a comma or the end of the list was expected")

    def _number(self, into: Numbers, key: str) -> None:
        at = self._skip()
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise Unreadable("too_many_elements", f"more than {MAX_ELEMENTS} numbers", at)
        if match := _NUMBER.match(self._text, at, min(self._end, at + MAX_LITERAL + 1)):
            literal = match[0]
            if len(literal) > MAX_LITERAL:
                reason = f"a number has more than {MAX_LITERAL} characters"
                raise Unreadable("number_too_long", reason, at)
            value = float(literal)
            if not _held(literal, value):
                into.literals[len(into.values)] = literal
        elif match := _NAMED.match(self._text, at, self._end):
            value = float(match[0].strip('"'))
        else:
            word = _WORD.match(self._text, at, self._end)
            what = word[0] if word else self._text[at : at + 1] or "the end"
            only = "only numbers and flat lists of them are compared"
            message = f"{brief(repr(key))} holds {what!r}; {only}"
            raise Unreadable("not_a_number", message, at)
        into.values.append(value)
        self._at = match.end()

    def _key(self) -> str:
        match = _STRING.match(self._text, self._at, min(self._end, self._at + MAX_KEY))
        if match is None:
            message = f"a key in quotes, at most {MAX_KEY} characters, was expected"
            raise Unreadable("not_json", message, self._at)
        key = str(json.loads(match[0]))
        if any("\ud800" <= character <= "\udfff" for character in key):
            raise Unreadable("not_json", "a key has half of a character pair", self._at)
        self._at = match.end()
        return key

    def _skip(self) -> int:
        match = _SPACE.match(self._text, self._at, self._end)
        self._at = match.end() if match else self._at
        return self._at

    def _try(self, character: str) -> bool:
        at = self._skip()
        if at < self._end and self._text[at] == character:
            self._at += 1
            return True
        return False

    def _take(self, character: str, problem: str) -> None:
        if not self._try(character):
            raise Unreadable("not_json", problem, self._at)


def _held(literal: str, value: float) -> bool:
    """Whether the double is what was written. A fraction or an exponent means the nearest double;
    an integer means itself."""
    if not math.isfinite(value):
        return False
    if abs(value) < EXACT or not literal.lstrip("-").isdigit():
        return True
    return int(literal) == int(value)
