"""What `kubectl describe` prints: escapes as carets, values over several lines, words as lines.

It writes an escape character as `^[`, so that a colour code inside a name hides a secret unless it
is taken out first. It prints the value of an environment variable as it is, line breaks and all:
the first line stands beside its name and is masked by it; the next ones stand alone and would be
shown. And it prints each word of a command on a line of its own.
"""

from __future__ import annotations

import re

from truepenny.text.control import ControlStripper
from truepenny.text.packed import looks_like_key
from truepenny.text.password_flag import MAX_WORDS, flags_of
from truepenny.text.redact import Redactor
from truepenny.text.rule import mask
from truepenny.text.sensitive import is_secret

CONTINUED = "continued"
"""The name under which the further lines of a value are masked."""

_CARET = "^["
_MASKED = re.compile(r"^\s{2,}[^\s:][^:\n]*:\s.*\[REDACTED:[^\]\n]*\]")
_OWN = re.compile(r"^(?:\s{2,}[^\s:][^:\n]*:(?:\s|$)|\S[^:\n]*:(?:\s|$)|\s{2,}<|\s*$)")
"""A line that begins something of its own: a field, a section, a remark in angle brackets."""

_FIELD = re.compile(r"^(\s{2,}([^\s:][^:\n]*):\s+)(\S+)\s*$")
_WORDS = re.compile(r"^\s+(?:Command|Args):\s*$")
_NO_WORDS = re.compile(r"^\s+[A-Z][\w ]*:")


class DescribeStream:
    """Redacts a description that comes in pieces. `counts` grows by rule name."""

    def __init__(self, redactor: Redactor) -> None:
        self.counts: dict[str, int] = {}
        self.removed = 0
        """Escape sequences that were taken out."""
        self._stripper = ControlStripper()
        self._stream = redactor.stream()
        self._caret = False
        self._rest = ""
        self._inside = False  # within the lines of a masked value
        self._shown = False  # the one mask for them is written
        self._events = False
        self._words: list[str] | None = None  # of a command, while its lines come
        self._command: list[str] = []

    def feed(self, text: str) -> str:
        """Take the next piece; return what is certain."""
        if self._caret:
            text, self._caret = "^" + text, False
        if text.endswith("^"):
            text, self._caret = text[:-1], True
        return self._take(self._redact(text))

    def finish(self) -> str:
        """Return the rest."""
        text = self._redact("^") if self._caret else ""
        text += self._stream.feed(self._stripper.finish()) + self._stream.finish()
        text = self._take(text)
        if self._rest:
            text += self._line(self._rest)
            self._rest = ""
        for name, count in self._stream.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.removed = self._stripper.removed
        return text

    def _redact(self, text: str) -> str:
        return self._stream.feed(self._stripper.feed(text.replace(_CARET, "\x1b")))

    def _take(self, text: str) -> str:
        lines = (self._rest + text).split("\n")
        self._rest = lines.pop()
        return "".join(self._line(f"{line}\n") for line in lines)

    def _line(self, line: str) -> str:
        body = line.rstrip("\n")
        if self._inside and not _OWN.match(body):
            self._count(CONTINUED)
            if self._shown:
                return ""
            self._shown = True
            return mask(CONTINUED) + line[len(body) :]
        # Rows of the events have no name in front, and kubectl puts each on one line. A blank line
        # ends them: the next object follows.
        if self._inside and not body.strip():
            return line  # a value may have empty lines; what ends it is a field of its own
        self._events = body.startswith("Events:") or (self._events and bool(body.strip()))
        if not self._events:
            body = self._word(body)
            body = self._field(body)
        self._inside = not self._events and bool(_MASKED.match(body))
        self._shown = False
        return body + ("\n" if line.endswith("\n") else "")

    def _field(self, body: str) -> str:
        """Mask a value that is a key by its shape, whatever its name."""
        found = _FIELD.match(body)
        if found is None or not looks_like_key(found[2], found[3]):
            return body
        self._count("random-key")
        return found[1] + mask("random-key")

    def _word(self, body: str) -> str:
        """Mask the password behind a short flag, where command and arguments are listed."""
        if _WORDS.match(body):
            self._words = [] if body.lstrip().startswith("Command") else self._command
            self._command = self._words
            return body
        if self._words is None:
            return body
        word = body.strip()
        if not word or _NO_WORDS.match(body):
            self._words = None
            if not body.startswith("      "):
                self._command = []
            return body
        behind = self._words[-1] if self._words else ""
        if behind in flags_of(self._words) and is_secret("password", word):
            self._count("key")
            body = body.replace(word, mask("key"))
        if len(self._words) >= MAX_WORDS:
            del self._words[MAX_WORDS // 2]
        self._words.append(word)
        return body

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
