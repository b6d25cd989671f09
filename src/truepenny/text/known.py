"""Secrets that are known by value: they are found in whatever form they show up.

Forms: plain, base64 (standard and URL-safe, at each of the three alignments, so also inside a
longer text that was encoded as a whole), URL-encoded, and JSON-escaped (also as Go and PHP write
it), and each of the three applied twice; hexadecimal; HTML entities as Python, Go and browsers
write them. A value of several lines is known by its lines, a very long one by pieces, so that a
stream never has to hold it whole.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from .trie import trie_pattern

MIN_LENGTH = 6
"""Shorter values are not learned: masking them would hit ordinary text."""

MIN_CERTAIN_LENGTH = 4
"""The same for values that a person declared to be secrets."""

PLAIN_WORD_LENGTH = 16
"""Below this length a value of letters and separators alone, like `checkout-db`, may be a name."""

MIN_ENCODED_LENGTH = 8
"""Encoded forms shorter than this collide with ordinary text."""

PIECE = 1024
"""Characters of one piece of a long value; a stream looks ahead further than this."""

_NAME_LIKE = re.compile(r"[a-z]+(?:[-._/:@ ][a-z]+)*|[A-Z][a-z]+|[0-9]{1,9}")
_LABEL = re.compile(r"[^A-Za-z0-9_.-]+")
_GO_JSON = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
"""What Go's encoder escapes beside the standard, and so every Kubernetes program."""

_FEW = 24  # forms up to which single searches beat one large expression (measured)
_HEAD = 24  # characters of a form that go into the large expression; the rest is compared


class _Index:
    """One immutable state: the forms with their labels, and how to find them."""

    def __init__(self, forms: dict[str, str]) -> None:
        self.forms = forms
        self._heads: dict[str, list[str]] = {}
        self._pattern: re.Pattern[str] | None = None

    def find(self, text: str, begin: int) -> Iterator[tuple[int, int, str]]:
        if len(self.forms) <= _FEW:
            for form, label in self.forms.items():
                at = text.find(form, begin)
                while at >= 0:
                    yield at, at + len(form), label
                    at = text.find(form, at + 1)
            return
        pattern = self._pattern or self._build()
        match = pattern.search(text, begin)
        while match:
            start = match.start()
            # A head that another one begins with hides it, so each shorter head is tried as well.
            for size in range(MIN_CERTAIN_LENGTH, len(match.group()) + 1):
                for form in self._heads.get(text[start : start + size], ()):
                    if text.startswith(form, start):
                        yield start, start + len(form), self.forms[form]
                        break
            match = pattern.search(text, start + 1)

    def _build(self) -> re.Pattern[str]:
        heads: dict[str, list[str]] = {}
        for form in sorted(self.forms, key=len, reverse=True):
            heads.setdefault(form[:_HEAD], []).append(form)
        self._heads = heads  # before the pattern: another thread uses it as soon as that is set
        self._pattern = trie_pattern(heads)
        return self._pattern


class KnownValues:
    """A growing set of secret values. Reading needs no lock; `learn` replaces the index whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index = _Index({})

    def __len__(self) -> int:
        """Return the number of forms that are looked for."""
        return len(self._index.forms)

    def learn(self, value: str, label: str = "known", *, certain: bool = False) -> bool:
        """Add a value; `label` names it in masks and counts. Return whether it is now known.

        Values that are too short or look like an ordinary word or number are left out, unless
        `certain`, which takes all of 4 characters and more.
        """
        if not certain and (
            len(value) < MIN_LENGTH
            or (len(value) < PLAIN_WORD_LENGTH and _NAME_LIKE.fullmatch(value))
        ):
            return False
        floor = MIN_CERTAIN_LENGTH if certain else MIN_LENGTH
        name = _LABEL.sub("-", label)[:64] or "known"
        new = dict.fromkeys(_forms(value, floor), name)
        if not new:
            return False
        with self._lock:
            forms = {**new, **self._index.forms}
            if len(forms) != len(self._index.forms):
                self._index = _Index(forms)
        return True

    def find(self, text: str, begin: int = 0) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and label of each form found from `begin` on, overlapping ones too."""
        index = self._index
        return index.find(text, begin) if index.forms else iter(())


def _forms(value: str, floor: int) -> Iterator[str]:
    parts = [value] if "\n" not in value else value.splitlines()
    for line in parts:
        stripped = line.strip()
        if len(stripped) < floor:
            continue
        for at in range(0, len(stripped), PIECE):
            piece = stripped[at : at + PIECE]
            # A short rest is joined to the piece before it, by starting earlier.
            if len(piece) < floor:
                piece = stripped[-max(floor, 64) :]
            yield piece
            yield from _encoded(piece)


def _entities(piece: str) -> set[str]:
    """Return the piece as HTML. Two characters have a name in some writers, a number in others."""
    python = html.escape(piece)
    named = python.replace("&#x27;", "&apos;")
    go = python.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    forms = {python, named, go, go.replace("&#34;", "&quot;")}
    forms |= {form.encode("ascii", "xmlcharrefreplace").decode("ascii") for form in forms}
    return forms - {piece}


def _encoded(piece: str) -> Iterator[str]:
    plain = json.dumps(piece, ensure_ascii=False)[1:-1]
    escaped = {json.dumps(piece)[1:-1], plain, plain.translate(_GO_JSON), plain.replace("/", r"\/")}
    # JSON within JSON, as in the annotation of what was last applied.
    escaped |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in escaped}
    raw = piece.encode("utf-8", "surrogatepass")
    urls = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    urls.add(quote(quote(raw, safe=""), safe=""))
    lower = {re.sub("%..", lambda match: match.group().lower(), url) for url in urls}
    yield from (form for form in escaped | urls | lower if len(form) >= len(piece))
    yield from {raw.hex(), raw.hex().upper()}
    yield from _entities(piece)
    # Encoded twice, a common slip with Kubernetes Secrets; up to the last whole group.
    once = base64.b64encode(raw).rstrip(b"=")
    twice = base64.b64encode(once[: len(once) // 3 * 3]).decode("ascii")
    if len(twice) >= MIN_ENCODED_LENGTH:
        yield twice
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw).decode("ascii")
        if shift == 0 and len(text) >= MIN_ENCODED_LENGTH:
            yield text
        text = text.rstrip("=")
        # The first characters mix in the bytes before; the last one those after.
        text = text[(0, 2, 3)[shift] :]
        if (shift + len(raw)) % 3:
            text = text[:-1]
        if len(text) >= MIN_ENCODED_LENGTH:
            yield text
            yield text.replace("+", "-").replace("/", "_")
