"""The profile of a model: shipped data by pattern, what its provider adds, what a person pinned.

Order, later wins field by field: `Profile`'s own defaults, every matching pattern from the least
to the most specific, the provider's additions, the settings. What a server's refusal teaches
(`truepenny.model.capability`) is applied by the wire on top, except over the settings.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

from .profile import Profile

DIRECTORY = Path(__file__).with_name("profiles")

FIELDS = frozenset(field.name for field in fields(Profile)) - {"model", "pinned"}
"""What data and settings may say about a model."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One entry of the data: a shell pattern over normalised ids, for one wire or ('') for all."""

    pattern: str
    wire: str
    values: Mapping[str, Any]
    file: str

    def matches(self, model: str, wire: str) -> bool:
        """Whether the entry speaks of this model; `model` is normalised."""
        return self.wire in ("", wire) and fnmatch.fnmatchcase(model, self.pattern)

    @property
    def rank(self) -> tuple[bool, int]:
        """More literal characters are more specific; a wire of its own is more specific still."""
        return bool(self.wire), sum(character not in "*?[]" for character in self.pattern)


def normalised(model: str) -> str:
    """Return the id as patterns see it: no vendor before a slash, no tag, dots as dashes."""
    name = model.rsplit("/", 1)[-1].lower().removesuffix(".gguf")
    head, separator, tag = name.partition(":")
    if separator and tag not in ("free", "latest"):
        head = f"{head}-{tag}"
    return head.replace(".", "-").replace("_", "-")


@cache
def patterns() -> tuple[Pattern, ...]:
    """Return all shipped entries, least specific first."""
    found: list[Pattern] = []
    for path in sorted(DIRECTORY.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for entry in cast("list[dict[str, Any]]", document["profile"]):
            values = {name: value for name, value in entry.items() if name in FIELDS}
            found.append(Pattern(entry["pattern"], entry.get("wire", ""), values, path.name))
    return tuple(sorted(found, key=lambda pattern: pattern.rank))


def known(model: str, wire: str) -> bool:
    """Whether the shipped data says anything about a model by its own name."""
    name = normalised(model)
    return any(entry.pattern != "*" and entry.matches(name, wire) for entry in patterns())


def profile_of(
    model: str,
    wire: str,
    *,
    like: str = "",
    additions: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Profile:
    """Return the profile of a model id on a wire.

    `like` is the id of a model whose profile applies instead of this one's own (a deployment with
    a free name). `additions` come from the provider; `overrides` from a person, and are pinned.
    """
    name = normalised(like or model)
    values: dict[str, Any] = {}
    for entry in patterns():
        if entry.matches(name, wire):
            values.update(entry.values)
    values.update(additions or {})
    values.update(overrides or {})
    if "efforts" in values:
        values["efforts"] = tuple(values["efforts"])
    return Profile(model=model, pinned=frozenset(overrides or {}), **values)
