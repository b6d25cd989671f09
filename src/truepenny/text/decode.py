"""Turn bytes into text as they arrive, and say where the bytes were not UTF-8.

A character is never split at a chunk edge and U+FFFD is never invented: a byte that is no part of
UTF-8 becomes the four visible characters `\\xNN` and its offset is kept. A byte order mark stays
in the text as U+FEFF and is also a fact (`Decoder.bom`). The result does not depend on how the
bytes were cut into chunks.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

MAX_BAD_RUNS = 32
"""Runs of bad bytes that are kept with their offset; later ones are only counted."""

MAX_BAD_DATA = 16
"""Bytes kept of one run: enough to recognise an encoding, few enough to show."""

_ESCAPED = re.compile("[\udc80-\udcff]+")  # how `surrogateescape` carries a byte through


@dataclass(frozen=True, slots=True)
class BadBytes:
    """One run of bytes that are not UTF-8: `offset` in the whole stream, `data` its first 16."""

    offset: int
    data: bytes
    length: int


class Decoder:
    """An incremental UTF-8 decoder. `bad` holds the first 32 runs, `bad_count` all bad bytes."""

    def __init__(self) -> None:
        self.bad: list[BadBytes] = []
        self.bad_count = 0
        self.bom = False
        self._offset = 0  # bytes turned into text so far
        self._pending = b""  # the begun character at the end of the last chunk, at most 3 bytes
        self._run_end = -1  # where the newest bad run ends, to join runs over chunk edges
        self._run_kept = False

    def feed(self, data: bytes) -> str:
        """Return the text of what is complete so far."""
        return self._decode(self._pending + data if self._pending else data, final=False)

    def finish(self) -> str:
        """Return what a cut character at the very end leaves, as visible escapes."""
        return self._decode(self._pending, final=True)

    def _decode(self, data: bytes, *, final: bool) -> str:
        text, used = codecs.utf_8_decode(data, "surrogateescape", final)
        self._pending = data[used:]
        if self._offset == 0 and text.startswith("\ufeff"):
            self.bom = True
        if not text.isascii() and _ESCAPED.search(text):
            text = self._escape(text)
        self._offset += used
        return text

    def _escape(self, text: str) -> str:
        parts: list[str] = []
        offset, done = self._offset, 0
        for match in _ESCAPED.finditer(text):
            plain = text[done : match.start()]
            raw = match.group().encode("utf-8", "surrogateescape")
            offset += len(plain.encode("utf-8"))
            self._note(offset, raw)
            parts += (plain, _visible(raw))
            offset += len(raw)
            done = match.end()
            if len(self.bad) == MAX_BAD_RUNS and not self._run_kept:
                break  # the rest is only counted, which needs no look at each run
        rest = text[done:].encode("utf-8", "surrogateescape")
        if len(self.bad) == MAX_BAD_RUNS and not self._run_kept:
            self.bad_count += len(rest) - len(text[done:].encode("utf-8", "ignore"))
            parts.append(rest.decode("utf-8", "backslashreplace"))
        else:
            parts.append(text[done:])
        return "".join(parts)

    def _note(self, offset: int, raw: bytes) -> None:
        self.bad_count += len(raw)
        if offset == self._run_end:
            if self._run_kept:
                last = self.bad[-1]
                kept = (last.data + raw)[:MAX_BAD_DATA]
                self.bad[-1] = BadBytes(last.offset, kept, last.length + len(raw))
        else:
            self._run_kept = len(self.bad) < MAX_BAD_RUNS
            if self._run_kept:
                self.bad.append(BadBytes(offset, raw[:MAX_BAD_DATA], len(raw)))
        self._run_end = offset + len(raw)


def _visible(raw: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in raw)


def decode(data: bytes) -> tuple[str, tuple[BadBytes, ...]]:
    """Decode whole bytes; the second part names the first 32 runs that were not UTF-8."""
    decoder = Decoder()
    text = decoder.feed(data) + decoder.finish()
    return text, tuple(decoder.bad)
