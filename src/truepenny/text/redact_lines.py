"""Secrets that go on over the next lines: key blocks, block scalars, nested mappings, pairs."""

from __future__ import annotations

import base64
import re

from .rule import MASK_PATTERN, mask
from .sensitive import is_benign_member, is_reference, is_schema, is_secret, looks_random

_PEM_END = re.compile(r"-----END [A-Z0-9 ]{1,60}-----")
_PEM_LINE = re.compile(
    r"[\s>|+\"'-]*(?:[A-Za-z0-9+/]*={0,2}|(?:Proc-Type|DEK-Info|Comment|Version|Hash):.*)[\s\"',\\]*"
    r"|.*[A-Za-z0-9+/]{20,}={0,2}.*"
)
"""A line of a key block: base64 alone, a header, or (behind a log prefix) a run of 20 or more."""

_MEMBER = re.compile(
    r"([ \t]*(?:-[ \t]+)*[\"']?[\w.\-/ ]{1,253}[\"']?[ \t]*:(?:[ \t]+|$)[\"']?)(.*)"
)
_ITEM = re.compile(r"([ \t]*(?:-[ \t]+)?[\"']?)(.*)")
_VALUE = re.compile(r"([ \t]*(?:-[ \t]+)?[\"']?value[\"']?[ \t]*:[ \t]*[\"']?)(.*)", re.IGNORECASE)
_ITEM_LEAD = re.compile(r"[ \t]*(?:-[ \t]+)*")
_FLAG = re.compile(r"--?[A-Za-z]")
_CLOSE = re.compile(r"[\"']?[ \t]*,?[ \t\r]*$")
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t\r]*")
_BASE64 = re.compile(
    r"(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|[A-Za-z0-9+/]{2,3}={1,2}"
)
_MIXED = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9+/=]).{20,}")
_ONLY_MASK = re.compile(rf"[\s\"',]*{MASK_PATTERN.pattern}[\s\"',]*")


MAX_HELD = 40
"""Lines of a nested mapping that are held until it is clear whether it says where a secret is, or
describes a field: the description of one in a CRD is seldom longer."""


def indent_of(line: str) -> int:
    """Return the number of leading blanks."""
    return len(line) - len(line.lstrip(" \t"))


def key_column(lead: str) -> int:
    """Return where the key after a line's beginning stands, behind the dashes of list items.

    What is nested below such a key is deeper than the key; the next items of its list are not.
    """
    found = _ITEM_LEAD.match(lead)
    return found.end() if found else 0


def _bare(text: str) -> str:
    """Return a name or value without its quotes and what separates it."""
    return text.strip(" \t,").strip("\"'").rstrip(":").strip("\"'")


def _encoded(value: str) -> bool:
    """Whether a value is base64 of a text, or of anything long; a word of small letters is base64
    too, of what nobody can read."""
    if not value:
        return True
    if not _BASE64.fullmatch(value):
        return False
    try:
        text = base64.b64decode(value, validate=True).decode("utf-8")
    except ValueError:
        return _MIXED.fullmatch(value) is not None
    return all(char.isprintable() or char in "\t\r\n" for char in text)


class Continuation:
    """An open secret and what becomes of the lines after it.

    `take` returns the text that replaces a line, or None where the line no longer belongs to it;
    the caller then writes `close()` and treats the line as a new one.
    """

    def __init__(
        self, kind: str, name: str, indent: int, *, masked: bool = False, newline: str = ""
    ) -> None:
        self.kind = kind
        self.name = name
        self.indent = indent
        self.done = False
        self.taken: int | None = None  # how much of the last line belonged to it, None for all
        self._masked = masked  # the one mask of a run has been written
        self._newline = newline  # swallowed with a run's last line, written when the run ends
        self._first = True
        self._held: list[str] = []  # the first lines of a nested mapping, until they are judged
        self._holding = kind == "nested"
        self._members: dict[str, object] = {}
        self._column = 0
        self._scope: int | None = None  # the column of the member whose mapping is held

    def close(self, counts: dict[str, int]) -> str:
        """Return what ends the run."""
        held = self._mask_held(counts) if self._scope is None else self._inner(counts)
        return held + self._newline

    @property
    def released(self) -> str:
        """Lines that were held and are no secret after all: to be looked at as any others. What
        is here once the mapping has ended says where a secret is, or what a field is for."""
        if not self._held or self._scope is not None:
            return ""
        if not (is_reference(self._members) or is_schema(self._members)):
            return ""
        text, self._held = "".join(self._held), []
        return text

    def take(self, line: str, counts: dict[str, int]) -> str | None:
        """Take one line, with its line break if it has one."""
        body = line.rstrip("\n")
        newline = line[len(body) :]
        if self.kind == "pem":
            return self._pem(body, newline, counts)
        if self.kind == "block":
            return self._block(body, newline, counts)
        if self.kind == "nested":
            return self._nested(body, newline, counts)
        if self.kind in ("strings", "data"):
            return self._values(body, newline, counts)
        return self._single(body, newline, counts)

    def covers(self, head: str) -> bool:
        """Whether a line too long to be held belongs to it, judged by its beginning."""
        if self.kind in ("block", "nested", "strings", "data"):
            return indent_of(head) > self.indent
        if self.kind == "value":
            return _VALUE.match(head) is not None
        return True

    def swallow(self, counts: dict[str, int]) -> str:
        """Return the mask for a line too long to be held, once per run."""
        self._first = False
        held = self._mask_held(counts)
        if self.kind in ("value", "item"):
            self.done = True
        return held + self._mask_once(counts)

    def _mask_once(self, counts: dict[str, int]) -> str:
        if self._masked:
            return ""
        self._masked = True
        counts[self.name] = counts.get(self.name, 0) + 1
        return mask(self.name)

    def _pem(self, body: str, newline: str, counts: dict[str, int]) -> str | None:
        end = _PEM_END.search(body)
        if end:
            self.done = True
            rest = body[end.end() :]
            if not rest.strip(" \t\r\"',"):
                return self._mask_once(counts) + rest + newline
            # More text on the last line becomes a line of its own.
            self.taken = end.end()
            return self._mask_once(counts) + self._newline
        if not _PEM_LINE.fullmatch(body):
            return None
        self._newline = newline
        return self._mask_once(counts)

    def _block(self, body: str, newline: str, counts: dict[str, int]) -> str | None:
        if not body.strip():
            if self._masked:
                self._newline = newline
                return ""
            return body + newline
        if indent_of(body) <= self.indent:
            return None
        if not self._masked and _ONLY_MASK.fullmatch(body):
            self._masked = True
            self._newline = newline
            return body
        lead = "" if self._masked else body[: indent_of(body)]
        self._newline = newline
        return lead + self._mask_once(counts)

    def _nested(self, body: str, newline: str, counts: dict[str, int]) -> str | None:
        if not body.strip():
            if self._first:
                return None
            if self._held and len(self._held) < MAX_HELD:
                self._held.append(body + newline)
                return ""
            return self._mask_held(counts) + body + newline
        column = indent_of(body)
        # YAML lets the items of a list stand as deep as their key.
        listed = body.lstrip().startswith("- ")
        inside = column > self.indent or (column == self.indent and listed)
        member = _MEMBER.fullmatch(body)
        if not inside or (self._first and member is None and not listed):
            return None
        self._first = False
        before = ""
        if self._holding and self._scope is not None and column <= self._scope:
            before = self._inner(counts)
        if self._holding:
            self._held.append(body + newline)
            if self._keeps(body, member):
                return before
            return before + self._mask_held(counts)
        return before + self._member(body, newline, counts)

    def _keeps(self, body: str, member: re.Match[str] | None) -> bool:
        """Hold a line that may be part of a reference or of a schema; False ends the holding."""
        column = indent_of(body)
        if len(self._held) == 1:
            self._column = column
        if column == self._column:
            if member is None or body.lstrip().startswith("-"):
                return False
            key, _, value = body.partition(":")
            self._members[_bare(key)] = _bare(value)
            if self._scope is None and is_schema(self._members):
                self.done = True
                return True
            if not (is_reference({**self._members, "name": "x"}) or "description" in self._members):
                return False
        elif "description" not in self._members:
            return False
        return len(self._held) < MAX_HELD

    def _inner(self, counts: dict[str, int]) -> str:
        """End the mapping of one member: where that is a reference its lines are no secret."""
        if not is_reference(self._members):
            return self._mask_held(counts)
        text, self._held, self._holding = "".join(self._held), [], False
        return text

    def _mask_held(self, counts: dict[str, int]) -> str:
        """Mask the lines held, and hold no more."""
        held, self._held, self._holding = self._held, [], False
        out: list[str] = []
        for line in held:
            body = line.rstrip("\n")
            out.append(self._member(body, line[len(body) :], counts))
        return "".join(out)

    def _member(self, body: str, newline: str, counts: dict[str, int]) -> str:
        member = _MEMBER.fullmatch(body)
        found = member or _ITEM.fullmatch(body)
        if member is not None and not member.group(2).strip():
            # What is nested below may be a reference of its own.
            self._scope, self._holding, self._members = key_column(body), True, {}
        if found is None or _BLOCK.fullmatch(found.group(2)):
            return body + newline
        if member is not None and is_benign_member(_bare(member.group(1).strip(" \t-"))):
            value = _bare(member.group(2))
            if not looks_random(value):
                return body + newline
        return self._masked_value(found, counts) + newline

    def _values(self, body: str, newline: str, counts: dict[str, int]) -> str | None:
        """Mask the values of a Secret, whatever their names. In `data` they are base64; the first
        that is none says that this is another object, whose lines are looked at as any others."""
        if not body.strip():
            ends = self._first or self.kind == "data"
            return None if ends else self._block(body, newline, counts)
        if indent_of(body) <= self.indent:
            return None
        if self._first:
            self._first, self._column = False, indent_of(body)
        member = _MEMBER.fullmatch(body) if indent_of(body) == self._column else None
        if member is None:
            # More of a value that began on a line before.
            return None if self.kind == "data" else self._block(body, newline, counts)
        before, self._newline, self._masked = self._newline, "", False
        lead, value = member.groups()
        close = _CLOSE.search(value)
        secret = value[: close.start()] if close else value
        if self.kind == "data" and not _encoded(secret):
            self._newline = before
            return None
        if not secret or _BLOCK.fullmatch(value) or _ONLY_MASK.fullmatch(secret):
            return before + body + newline
        counts[self.name] = counts.get(self.name, 0) + 1
        return before + lead + mask(self.name) + value[len(secret) :] + newline

    def _single(self, body: str, newline: str, counts: dict[str, int]) -> str | None:
        found = (_VALUE if self.kind == "value" else _ITEM).fullmatch(body)
        if found is None or (self.kind == "item" and _FLAG.match(found.group(2))):
            return None
        self.done = True
        if self.kind == "value" and _BLOCK.fullmatch(found.group(2)):
            self.kind, self.indent, self.done = "block", indent_of(body), False
            return body + newline
        return self._masked_value(found, counts) + newline

    def _masked_value(self, found: re.Match[str], counts: dict[str, int]) -> str:
        lead, value = found.groups()
        close = _CLOSE.search(value)
        tail = close.group() if close else ""
        secret = value[: len(value) - len(tail)]
        if not is_secret("password", secret) or _ONLY_MASK.fullmatch(secret):
            return lead + value
        counts[self.name] = counts.get(self.name, 0) + 1
        return lead + mask(self.name) + tail
