"""Reading one field of the catalog at a time: its type, its bounds, the line it is on."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath

from .check import FRONTEND, MAX_TIMEOUT_MS, CatalogRefused
from .yaml_tree import Mapping, Node, Scalar, Sequence

ID = re.compile(r"[a-z0-9][a-z0-9._:-]*")
MAX_ID = 64
MAX_DESCRIPTION = 512
MAX_WORDS = 64
MAX_WORD = 4096
MAX_PATH = 512
MAX_TAGS = 16
MAX_TAG = 32
"""Bytes and counts of tools spec 2.10."""


class Fields:
    """The fields of one mapping. What was not taken when `end` is called is an unknown field."""

    def __init__(self, node: Node, file: str, what: str) -> None:
        self._file, self._what, self._line = file, what, node.line
        if not isinstance(node, Mapping):
            raise self.refuse("wrong_type", f"{what} must be a mapping", node.line)
        self._items, self._lines = dict(node.items), node.lines

    def refuse(self, reason: str, message: str, line: int | None = None) -> CatalogRefused:
        return CatalogRefused(reason, message, f"{self._file}:{line or self._line}")

    @property
    def place(self) -> str:
        return f"{self._file}:{self._line}"

    def line(self, name: str) -> int:
        """Return the line of a field, of the mapping where it is not there."""
        return self._lines.get(name, self._line)

    def has(self, name: str) -> bool:
        return name in self._items

    def end(self) -> None:
        for name in self._items:
            message = f"{self._what} has no field {name!r}"
            raise self.refuse("unknown_field", message, self._lines[name])

    def node(self, name: str) -> Node:
        if name not in self._items:
            raise self.refuse("missing_field", f"{self._what} needs {name}")
        return self._items.pop(name)

    def mapping(self, name: str) -> Fields:
        return Fields(self.node(name), self._file, f"{name} of {self._what}")

    def items(self, name: str, most: int, reason: str) -> tuple[Node, ...]:
        node = self.node(name)
        if not isinstance(node, Sequence):
            raise self.refuse("wrong_type", f"{name} must be a list", node.line)
        if len(node.items) > most:
            raise self.refuse(reason, f"{name} has more than {most} entries", node.line)
        return node.items

    def text(self, name: str, most: int, reason: str) -> str:
        return self._text(self.node(name), name, most, reason)

    def texts(self, name: str, count: int, most: int, reason: str) -> tuple[str, ...]:
        items = self.items(name, count, reason)
        return tuple(self._text(item, f"an entry of {name}", most, reason) for item in items)

    def _text(self, node: Node, name: str, most: int, reason: str) -> str:
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            message = f"{name} must be text; put it in quotes"
            raise self.refuse("wrong_type", message, node.line)
        if len(node.value.encode(errors="surrogatepass")) > most:
            raise self.refuse(reason, f"{name} has more than {most} bytes", node.line)
        return node.value

    def identity(self) -> str:
        value = self.text("id", MAX_ID, "id_form")
        line = self.line("id")
        if not ID.fullmatch(value):
            message = f"the id {value!r} is not of the form {ID.pattern}"
            raise self.refuse("id_form", message, line)
        if value == FRONTEND:
            raise self.refuse("id_reserved", f"the id {FRONTEND!r} is ours", line)
        return value

    def description(self) -> str:
        if not self.has("description"):
            return ""
        value = self.text("description", MAX_DESCRIPTION, "description_form")
        if value != value.strip() or any(ord(character) < 32 for character in value):
            message = "the description must be one line without space around it"
            raise self.refuse("description_form", message, self.line("description"))
        return value

    def argv(self) -> tuple[str, ...]:
        words = self.texts("argv", MAX_WORDS, MAX_WORD, "argv_size")
        line = self.line("argv")
        if not words or not words[0]:
            raise self.refuse("argv_empty", "argv names no program", line)
        if any(character.isspace() for character in words[0]):
            message = f"the program {words[0]!r} has white space: give a list of words, not a line"
            raise self.refuse("argv_line", message, line)
        return words

    def path(self, name: str) -> str:
        """Return a path in the workspace, by its form alone; empty for the workspace itself."""
        value = self.text(name, MAX_PATH, "path_size")
        parts = PurePosixPath(value).parts
        if value.startswith("/") or ".." in parts or not value:
            message = f"{name} must be a path in the workspace, without `..`"
            raise self.refuse("path_outside", message, self.line(name))
        return "/".join(parts)

    def timeout(self) -> int:
        line = self.line("timeoutMs")
        value = self.number("timeoutMs", whole=True)
        if not 1 <= value <= MAX_TIMEOUT_MS:
            message = f"timeoutMs must be from 1 to {MAX_TIMEOUT_MS}"
            raise self.refuse("timeout_range", message, line)
        return int(value)

    def number(self, name: str, *, whole: bool = False, above_zero: bool = False) -> float:
        line = self.line(name)
        node = self.node(name)
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse("wrong_type", f"{name} must be a number", node.line)
        if whole and not isinstance(value, int):
            raise self.refuse("wrong_type", f"{name} must be a whole number", line)
        try:
            finite = math.isfinite(value)
        except OverflowError:
            finite = False
        if not finite or value < 0 or (above_zero and value == 0):
            least = "above zero" if above_zero else "not negative"
            raise self.refuse("number_range", f"{name} must be finite and {least}", line)
        return value

    def tags(self) -> tuple[str, ...]:
        found = self.texts("tags", MAX_TAGS, MAX_TAG, "tags_size") if self.has("tags") else ()
        if len(set(found)) != len(found):
            raise self.refuse("duplicate_tag", "a tag comes twice", self.line("tags"))
        return found

    def word(self, name: str, words: tuple[str, ...], default: str) -> str:
        if not self.has(name):
            return default
        value = self.text(name, MAX_WORD, "unknown_word")
        if value not in words:
            message = f"{name} must be one of {', '.join(words)}, not {value!r}"
            raise self.refuse("unknown_word", message, self.line(name))
        return value
