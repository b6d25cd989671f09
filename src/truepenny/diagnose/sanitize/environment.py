"""What `env` prints: records, whose values may go over several lines, ended by a line or by NUL."""

from __future__ import annotations

import re

from truepenny.text.control import strip_control
from truepenny.text.packed import holds_secret, looks_like_key
from truepenny.text.redact import Redactor
from truepenny.text.rule import mask
from truepenny.text.sensitive import Strength, is_secret, key_strength

MAX_RECORD = 1024 * 1024
"""Characters of a line or record that are held for judging it; the kernel allows 128 KiB."""

_RECORD = re.compile(r"(?:export |declare -x )?([A-Za-z_][A-Za-z0-9_.\-]*)=")
_PLAIN = re.compile(r"[\"']?(.*?)[\"']?$", re.DOTALL)


class EnvironmentStream:
    """Redacts an environment that comes in pieces; `counts` grows by rule name.

    A line that begins no record belongs to the one before: with its value masked it goes as well.
    `name` is what a bare value belongs to, as `printenv NAME` prints it.
    """

    def __init__(self, redactor: Redactor, name: str = "") -> None:
        self.counts: dict[str, int] = {}
        self._redactor = redactor
        self._stream = redactor.stream()
        self._held = ""
        self._end = ""  # what ends a record, known when the first end is seen
        self._bare = name
        self._dropping = False  # the last record's name is secret: so are its further lines
        self._long = False  # inside a record longer than what is held

    def feed(self, text: str) -> str:
        """Take the next piece; return what is certain."""
        self._held += text
        if not self._end:
            found = re.search("[\0\n]", self._held)
            if found is None and len(self._held) <= MAX_RECORD:
                return ""
            # A value may hold line breaks, never a NUL: one anywhere near says what ends a record.
            nul = "\0" in self._held[:MAX_RECORD]
            self._end = "\0" if nul else "\n"
        *whole, self._held = self._held.split(self._end)
        out = [self._record(record, self._end) for record in whole]
        if len(self._held) > MAX_RECORD:
            out.append(self._too_long())
        return "".join(out)

    def finish(self) -> str:
        """Return the rest."""
        held, self._held = self._held, ""
        return (self._record(held, "") if held or self._long else "") + self._flush()

    def _too_long(self) -> str:
        self._held = ""
        if self._long:
            return ""
        self._long = True
        return self._flush() + self._masked("too-long")

    def _record(self, record: str, end: str) -> str:
        if self._long:
            self._long, self._dropping = False, True
            return end
        if self._end == "\0":
            clean = "\n".join(strip_control(line) for line in record.split("\n"))
        else:
            clean = strip_control(record)
        found = _RECORD.match(clean)
        if found is None and not self._bare:
            if self._dropping:
                return ""
            return self._stream.feed(clean + end)
        name, at = (found[1], found.end()) if found else (self._bare, 0)
        self._bare = ""
        plain = _PLAIN.match(clean, at)
        value = plain[1] if plain else ""
        rule = self._judge(name, value)
        self._dropping = key_strength(name) > Strength.WEAK and (bool(rule) or not value)
        if rule:
            return self._flush() + clean[:at] + self._masked(rule) + end
        if end == "\0":
            done = self._redactor.text(clean)
            self._add(done.counts)
            return done.text + end
        return self._stream.feed(clean + end)

    def _judge(self, name: str, value: str) -> str:
        """Return under which name the value is to be masked; empty where it is not."""
        if is_secret(name, value):
            return "key"
        if looks_like_key(name, value):
            return "random-key"
        judged = holds_secret(value, lambda text: bool(self._redactor.text(text).counts))
        return "packed" if judged else ""

    def _masked(self, name: str) -> str:
        self.counts[name] = self.counts.get(name, 0) + 1
        return mask(name)

    def _flush(self) -> str:
        """End the stream of what was not masked here; what follows is no part of it."""
        rest = self._stream.finish()
        self._add(self._stream.counts)
        self._stream = self._redactor.stream()
        return rest

    def _add(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
