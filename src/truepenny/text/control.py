"""Make control characters harmless: drop terminal sequences, show what could hide or reorder text.

Run it after decoding and before redaction: a colour code inside a secret would hide the secret.
"""

from __future__ import annotations

import re

MAX_SEQUENCE = 4096
"""Characters that a stream holds back for the end of a terminal sequence; a longer one is taken
for text whose escape character alone is dropped."""

# OSC, DCS, SOS, PM and APC: a string up to its terminator.
_STRING = r"(?:[\]PX^_k])[^\x07\x9c\n\x1b]{0,4000}(?:\x07|\x9c|\x1b\\)"
# All bounded, so that a stream, which holds back no more than `MAX_SEQUENCE`, finds the same ones.
_REST = r"[0-?]{0,3000}[ -/]{0,1000}[@-~]"
_SHORT = r"[ -/]{1,4000}[0-~]|[0-OQ-WYZ\\`-jl-~]"
_SEQUENCE = re.compile(rf"\x1b(?:{_STRING}|\[{_REST}|{_SHORT})|\x9b{_REST}")
_BEGUN = re.compile(
    r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_k][^\x07\x9c\n\x1b]*\x1b?|[ -/]*)"
    r"|\x9b[0-?]*[ -/]*)\Z"
)
# Dropped: C0 without tab and newline, DEL, C1. Shown as \uXXXX: characters that reorder or hide
# text (bidirectional controls, zero width, line separators, tags that spell invisible words).
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
    "|(?P<hidden>[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufff9-\ufffb\U000e0000-\U000e007f])"
)
_LINE_BREAK = re.compile(r"\r+\n?")
_QUICK = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)


class ControlStripper:
    """Strips a text that comes in pieces; `removed` counts sequences and characters dealt with.

    A lone carriage return becomes a line break, so that what a progress bar overwrote stays.
    The result does not depend on how the text was cut.
    """

    def __init__(self) -> None:
        self.removed = 0
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what is certain so far."""
        text = self._held + text
        self._held = ""
        begun = _BEGUN.search(text, max(0, len(text) - MAX_SEQUENCE))
        if begun:
            text, self._held = text[: begun.start()], text[begun.start() :]
        text = _SEQUENCE.sub(self._drop, text)
        # A line feed may follow a carriage return at the edge; together they are one line break.
        ready = text.rstrip("\r")
        self._held = text[len(ready) :] + self._held
        return self._clean(ready)

    def finish(self) -> str:
        """Return the rest: the escape character of an unfinished sequence is dropped."""
        text, self._held = self._held, ""
        return self._clean(_SEQUENCE.sub(self._drop, text))

    def _clean(self, text: str) -> str:
        if not _QUICK.search(text):
            return text
        text = _LINE_BREAK.sub("\n", text)
        return _UNSAFE.sub(self._show, text)

    def _drop(self, match: re.Match[str]) -> str:
        self.removed += 1
        return ""

    def _show(self, match: re.Match[str]) -> str:
        self.removed += 1
        hidden = match.group("hidden")
        if hidden is None:
            return ""
        code = ord(hidden)
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def strip_control(text: str) -> str:
    """Strip a whole text."""
    stripper = ControlStripper()
    return stripper.feed(text) + stripper.finish()
