"""The analyst's data: playbooks and vocabulary, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LISTEN = "listen"
"""The stage entry that reads the logs of healthy pods of what is asked about."""
SYSTEM = "system"
"""The stage entry that reads kube-system."""


@dataclass(frozen=True, slots=True)
class Playbook:
    """An order of reading. `title` says in words what it looks at."""

    name: str
    title: str
    words: frozenset[str]
    kinds: frozenset[str]
    stages: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words by what they tell about a question."""

    symptoms: frozenset[str]
    common: frozenset[str]
    things: frozenset[str]
    refresh: frozenset[str]
    steps: frozenset[str]
    proof: frozenset[str]
    listing: frozenset[str]
    changes: frozenset[str]
    foreign: frozenset[str]
    greetings: frozenset[str]

    @property
    def ignored(self) -> frozenset[str]:
        """Words that are not taken for the name of an object."""
        return self.symptoms | self.common | self.things | self.greetings | self.changes


@cache
def playbooks() -> tuple[Playbook, ...]:
    """All playbooks in the order in which they are tried."""
    return tuple(
        Playbook(
            name=entry["name"],
            title=entry["title"],
            words=frozenset(entry["words"]),
            kinds=frozenset(entry["kinds"]),
            stages=tuple(tuple(stage) for stage in entry["stages"]),
        )
        for entry in _read("playbooks.toml")["playbook"]
    )


@cache
def vocabulary() -> Vocabulary:
    """The words."""
    return Vocabulary(**{key: frozenset(words) for key, words in _read("vocabulary.toml").items()})


def choose(words: Iterable[str], kinds: Iterable[str]) -> Playbook:
    """Return the first playbook that a word of the question or a named kind asks for."""
    said, named = set(words), set(kinds)
    for playbook in playbooks():
        if playbook.words & said or playbook.kinds & named:
            return playbook
    return playbooks()[-1]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(
        files("truepenny.diagnose.analyst").joinpath(name).read_text(encoding="utf-8")
    )
