"""What of a sentence can be looked up: quotations, numbers, names, reasons; and its plain words.

An anchor is mechanical: the shape of a word makes it one, not what it means. Words that have no
such shape ("the database is slow") cannot be looked up, and make no sentence true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .sentence import QUOTED

Kind = Literal["quote", "number", "name", "reason"]

WINDOW = 6
"""Words on either side of a number that say what it counts; further away is about another one."""

_CITES = re.compile(r"(?<![\w])\[[A-Za-z0-9_.:, -]{1,200}\]")
_NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "twice": "2",
}  # fmt: skip
"""`one` is left out: it is a pronoun more often than a count."""

_TOKEN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./:@=-]*[A-Za-z0-9_])?%?")
_NUMBER = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?)([A-Za-z%]{0,5})")
_FREE_NUMBER = re.compile(
    r"(?<![\w.-])(\d[\d,]*(?:\.\d+)?[A-Za-z%]{0,5})(?![\w-])(?: ([A-Za-z]+))?"
)
_RATIO = re.compile(r"\d+/\d+")
_REASON = re.compile(r"(?:[A-Z]{2,}|[A-Z]?[a-z]+)(?:[A-Z][a-z0-9]+)+[A-Z]*|[A-Z]{4,}")
_NAME = re.compile(r"(?=.*[a-z])(?=.*[\d/_@:.-])[a-z0-9][\w./:@-]*", re.IGNORECASE)
_ENGLISH = re.compile(
    r"(?:re|non|pre|post|un|co|self|well|so|long|short|high|low|read|write|up|out|in|on|off|over|"
    r"cluster|node|pod|not|one|two|half|root|last|first|back|roll|time|end|and|per)"
    r"(?:-[a-z]{2,})+|[a-z]+-(?:level|based|wide|only|side|specific|related|ready|backoff|up|down|out|"
    r"loop|time|of|in|to|than)|(?:and|or|his|read|yes)/[a-z]+|e\.g|i\.e",
    re.IGNORECASE,
)
_UNITS = {
    "second": "s", "seconds": "s", "sec": "s", "secs": "s", "minute": "m", "minutes": "m",
    "min": "m", "mins": "m", "hour": "h", "hours": "h", "day": "d", "days": "d",
    "percent": "%", "mib": "Mi", "gib": "Gi", "kib": "Ki", "ms": "ms", "milliseconds": "ms",
    "mi": "Mi", "gi": "Gi", "ki": "Ki", "mb": "MB", "gb": "GB", "kb": "KB", "s": "s", "m": "m",
    "h": "h", "d": "d", "%": "%",
}  # fmt: skip
_KINDS = re.compile(
    r"(?:pod|deployment|replicaset|statefulset|daemonset|job|cronjob|service|node|namespace|"
    r"container|configmap|secret|ingress|claim|persistentvolumeclaim|volume|host|cluster|queue|"
    r"serviceaccount|endpoint|endpointslice)",
    re.IGNORECASE,
)
_AFTER_A_KIND = (
    "a an and are as at be been but by can cannot could did do does for from had has have in into "
    "is it its keeps never no not now of on or restarted restarts runtime image images name names "
    "log logs status limit limits memory cpu port ports spec state that the their then there this "
    "to was were which while who whose will with without itself ready running pending failed fails "
    "failing stuck killed started starts account events event list lists disruption quota group "
    "exists serves named called cannot shows reports says ran runs uses used points lacks needs "
    "wants waits selector selectors template lifecycle probe probes after before because since "
    "today again still only also controller network policy level registry api server dns "
    "pressure suspended condition conditions capacity own "
    "crashes crashed restarting crashing terminated evicted deleted created scheduled"
)
_NO_NAME = frozenset(_AFTER_A_KIND.split())
_SMALL = (
    "the and was were has have had are its that this with for from into which been not only than "
    "then there they their all any each one but can did does"
)
_STOP = frozenset(_SMALL.split())

_TURNS = frozenset(("because", "which", "and", "but", "while", "since", "so", "as"))
"""Where a sentence turns to something else."""

_SAME = {"replica": "pod", "mem": "memory", "old": "age"}
"""Stems that people say for one another."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """One thing to look up. `at` is where it begins in the sentence.

    `near` are the plain words around a number: what it is about.
    """

    kind: Kind
    text: str
    at: int
    near: tuple[str, ...] = ()
    around: frozenset[str] = frozenset()
    """The words that `near` was made of, as they stand."""
    of: tuple[str, ...] = ()
    """The words right after a number, as stems: `3 running pods`."""
    wide: tuple[str, ...] = ()
    """The plain words of the whole sentence, for where none of `near` leads anywhere."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as value and unit; "" is no unit."""

    value: str
    unit: str

    def equals(self, other: Number) -> bool:
        """Whether both say the same; a missing unit fits any."""
        same = not self.unit or not other.unit or self.unit == other.unit
        return same and self.value == other.value


def numbers(text: str) -> Iterator[Number]:
    """Yield the numbers in a text; digits within a name are none."""
    for match in _FREE_NUMBER.finditer(text):
        if found := number(match[1], match[2] or ""):
            yield found


def number(text: str, unit: str = "") -> Number | None:
    """Read one number; `unit` is the word after it. None when it is none."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    own = match[2] or (unit if unit.lower() in _UNITS else "")
    return Number(match[1].replace(",", ""), _UNITS.get(own.lower(), own))


def bare(sentence: str) -> str:
    """Return the sentence with citations and emphasis blanked, each place kept."""
    spans = [match.span() for match in QUOTED.finditer(sentence)]

    def blanked(match: re.Match[str]) -> str:
        quoted = any(start < match.start() < end for start, end in spans)
        return match[0] if quoted else " " * len(match[0])

    return _CITES.sub(blanked, sentence).replace("*", " ")


def anchors(sentence: str) -> tuple[Anchor, ...]:
    """Return what can be looked up, in order; citations are none of it."""
    text = bare(sentence)
    found: list[Anchor] = []
    plain = list(text)
    for match in QUOTED.finditer(text):
        inner = match[0].strip('`"“”').strip()
        if len(inner) > 1:
            found.append(Anchor("quote", inner, match.start()))
        plain[match.start() : match.end()] = " " * len(match[0])
    tokens = [(m[0], m.start()) for m in _TOKEN.finditer("".join(plain))]
    for place, (token, at) in enumerate(tokens):
        after = tokens[place + 1][0] if place + 1 < len(tokens) else ""
        before = tokens[place - 1][0] if place else ""
        value = _NUMBER_WORDS.get(token.lower(), token)
        if _RATIO.fullmatch(value):
            found.append(_counted(value, at, tokens, place))
        elif number(value):
            unit = after if after.lower() in _UNITS and not _NUMBER.fullmatch(after) else ""
            shown = f"{value} {unit}".strip()
            found.append(_counted(shown, at, tokens, place))
        elif _REASON.fullmatch(token) and not _KINDS.fullmatch(token):
            found.append(Anchor("reason", token, at))
        elif _is_name(token, before):
            found.append(Anchor("name", token, at))
    return tuple(sorted(found, key=lambda anchor: anchor.at))


def _is_name(word: str, before: str) -> bool:
    """Whether a word has the shape of a name, or follows a kind: `pod web`, not `pod restarts`."""
    if _NAME.fullmatch(word) and not _ENGLISH.fullmatch(word):
        return True
    if word[0].isdigit() and any(sign in word for sign in ".:-/"):
        return True  # An address, a version or a time; plain numbers were taken before.
    if not _KINDS.fullmatch(before):
        return False
    plain = (
        len(word) > 1 and word.lower() not in _NO_NAME and not _KINDS.fullmatch(word.rstrip("s"))
    )
    return plain and word.islower()


def _counted(text: str, at: int, tokens: list[tuple[str, int]], place: int) -> Anchor:
    before: list[str] = []
    for word, _ in reversed(tokens[max(place - WINDOW, 0) : place]):
        if word.lower() in _TURNS:
            break
        before.append(word)
    after: list[str] = []
    for word, _ in tokens[place + 1 : place + 1 + WINDOW]:
        if word.lower() in _TURNS:
            break
        after.append(word)
    near = tuple(_plain_stems((*before, *after)))
    wide = tuple(_plain_stems([word for word, _ in tokens]))
    of = tuple(stem for word in after[:2] for stem in stems(word))
    return Anchor("number", text, at, near, frozenset((*before, *after)), of, wide)


def _plain_stems(words: Sequence[str]) -> Iterator[str]:
    """Yield the stems of plain words; names and kinds are matched as such, by whole records."""
    for word in words:
        if not _is_name(word, "") and not (_KINDS.fullmatch(word) and word[0].isupper()):
            yield from stems(word)


@lru_cache(maxsize=50_000)
def stems(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, camel case taken apart, endings cut off."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return tuple(_stem(word.lower()) for word in words if _counts(word))


def _counts(word: str) -> bool:
    return len(word) > 2 and word.lower() not in _STOP and word.lower() not in _UNITS


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    # A doubled letter comes of the ending: stopped, limited.
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    word = word.removesuffix("e") if len(word) > 4 else word
    return _SAME.get(word, word)
