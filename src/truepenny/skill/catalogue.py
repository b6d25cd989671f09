"""What a model is told of the skills before it loads one: a name and a line each."""

from __future__ import annotations

from truepenny.text.control import strip_control

from .folder import Skill
from .skills import Skills

CATALOGUE_CHARS = 8000
"""Characters in a system prompt: the shipped skills fit with room for a site's own."""

DESCRIPTION_CHARS = 300
"""Of one description: what it is for stands first."""


def catalogue(skills: Skills, limit: int = CATALOGUE_CHARS) -> str:
    """Return a line for each skill, by name, in at most `limit` characters of whole lines and one
    more line that says how many are left out and how to see them. Empty where there is none.

    Skills may come from a folder of others: each is one line, so that none can pose as a rule.
    """
    lines = [entry(skill) for skill in skills.by_name.values()]
    shown: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > limit:
            left = len(lines) - len(shown)
            return "\n".join([*shown, f"- and {left} more: call skill without a name"])
        shown.append(line)
    return "\n".join(shown)


def entry(skill: Skill) -> str:
    """Return a skill's line; a description that is cut ends with `…`."""
    words = " ".join(strip_control(skill.description).split())
    if len(words) > DESCRIPTION_CHARS:
        words = f"{words[: DESCRIPTION_CHARS - 1]}…"
    return f"- {skill.name}: {words}"
