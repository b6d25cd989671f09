"""What a question wants, told from its words alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from truepenny.diagnose.triage.subject import KIND_WORDS, words_of

from .playbook import vocabulary

# A word in one of these places is meant as a name, even when nothing has that name.
_NAMED = re.compile(
    r"\b(?=(?:is|are|does|did|do|with|about|of|for|the|in|pods?|deployments?|services?|jobs?|"
    r"namespaces?|nodes?)\s+[\"'`]?([A-Za-z0-9][A-Za-z0-9.-]*))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"'`]([A-Za-z0-9][A-Za-z0-9./-]*)[\"'`]")
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|can(?:no|')t|won't|doesn't|isn't|aren't|don't)\b", re.I
)
_ABOUT_ITSELF = re.compile(r"\b(?:who|what) are you\b|\bwhat can you\b|^\s*help\b", re.IGNORECASE)


class Intent(StrEnum):
    """What is wanted."""

    INVESTIGATE = "investigate"
    LIST = "list"
    STEPS = "steps"
    """A follow-up: what to do about what was found."""
    PROOF = "proof"
    """A follow-up: why that is so."""
    CHANGE = "change"
    INTRODUCE = "introduce"
    FOREIGN = "foreign"
    """Nothing about a cluster."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, taken apart. `names` are words in the place of a name, as far as words tell."""

    text: str
    words: tuple[str, ...]
    intent: Intent
    names: tuple[str, ...] = ()
    kind: str = ""


def understand(text: str, *, follows: bool = False) -> Question:
    """Take a question apart; `follows` says that an investigation came before it."""
    known = vocabulary()
    words = tuple(words_of(text))
    said = set(words)
    troubled = bool(said & known.symptoms) or bool(_NEGATED.search(text))
    names = _names(text, known.ignored)
    kind = next((word for word in words if word.removesuffix("s") in KIND_WORDS), "")
    refresh = bool(said & known.refresh)
    cluster_words = said & known.things

    def question(intent: Intent) -> Question:
        return Question(text, words, intent, names, kind)

    if _ABOUT_ITSELF.search(text) or (said & known.greetings and len(words) <= 3):
        return question(Intent.INTRODUCE)
    if follows and not names and not refresh:
        if said & known.steps:
            return question(Intent.STEPS)
        if said & known.proof:
            return question(Intent.PROOF)
    if words[:1] and words[0] in known.foreign and not (troubled or cluster_words):
        return question(Intent.FOREIGN)
    if (words and words[0] in known.changes) or (words[:1] == ("please",) and said & known.changes):
        return question(Intent.CHANGE)
    if kind and words and words[0] in known.listing | {"how"} and not troubled:
        return question(Intent.LIST)
    if not words:
        return question(Intent.FOREIGN)
    # Whoever asks a diagnostician most likely wants a look, in words that no list foresees.
    return question(Intent.INVESTIGATE)


def _names(text: str, ignored: frozenset[str]) -> tuple[str, ...]:
    found = [match[1] for match in _QUOTED.finditer(text)]
    found += [match[1] for match in _NAMED.finditer(text)]
    found += [word for word in words_of(text) if "-" in word or "/" in word]
    lowered = [each.lower().rstrip(".") for each in found]
    return tuple(dict.fromkeys(each for each in lowered if each not in ignored))
