"""The skills of several roots: shipped, a site's own, a workspace's (diagnostics 7)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truepenny.errors import ConfigurationError
from truepenny.skill.folder import Skill, SkillInvalid, read
from truepenny.tool.script import Script, UnknownScript

if TYPE_CHECKING:
    from collections.abc import Iterable

SKILL_LIMIT = 500  # folders in one root: more is a wrong folder, and each costs a read


def shipped() -> Path:
    """Return the folder of the shipped skills; ConfigurationError where there is none."""
    package = Path(__file__).parent
    places = (package / "shipped", package.parents[2] / "skills")
    for folder in places:
        if folder.is_dir():
            return folder
    raise ConfigurationError(
        "the shipped skills are not here",
        where=str(places[0]),
        remedy="Install the package again.",
    )


@dataclass(frozen=True, slots=True)
class Skills:
    """Checked skills by name. `warnings` tell of shadowed skills and unread keys, `refused` of
    folders that break the format and so are not used; a caller shows both."""

    by_name: dict[str, Skill]
    warnings: tuple[str, ...]
    refused: tuple[SkillInvalid, ...]

    @classmethod
    def load(cls, roots: Iterable[Path]) -> Skills:
        """Read all roots; a later root's skill is used in place of an earlier one's of that name.

        A refused folder shadows too: an operator's broken skill must not quietly become the
        shipped one. Raises ConfigurationError where a root cannot be listed.
        """
        found: dict[str, Skill] = {}
        places: dict[str, Path] = {}
        warnings: list[str] = []
        refused: list[SkillInvalid] = []
        for root in roots:
            for folder in _folders(root):
                name = folder.name
                if name in places:
                    warnings.append(f"{folder}: used in place of {places[name]}")
                    found.pop(name, None)
                places[name] = folder
                try:
                    skill = read(folder)
                except SkillInvalid as error:
                    refused.append(error)
                    continue
                found[name] = skill
                warnings += skill.warnings
        return cls(dict(sorted(found.items())), tuple(warnings), tuple(refused))

    def script(self, skill: str, name: str) -> Script:
        """Return a script to run; UnknownScript names those there are."""
        owner = self.by_name.get(skill)
        for script in owner.scripts if owner else ():
            if script.name == name:
                return Script(
                    skill=skill,
                    name=name,
                    body=script.body.encode(),
                    interpreter=script.interpreter,
                    contexts=tuple(sorted(script.contexts)),
                    documentation=f"{script.summary}\nArguments: {script.arguments}",
                )
        known = tuple(
            f"{s.name}/{script.name}" for s in self.by_name.values() for script in s.scripts
        )
        raise UnknownScript(skill, name, known, owner.body if owner else "")


def _folders(root: Path) -> list[Path]:
    try:
        # A link is kept here, so that reading it refuses it by name.
        folders = sorted(p for p in root.iterdir() if p.is_symlink() or p.is_dir())
    except OSError as error:
        raise ConfigurationError(
            f"a folder of skills cannot be listed: {error.strerror}",
            where=str(root),
            remedy="Name a folder that this user can read.",
        ) from error
    if len(folders) > SKILL_LIMIT:
        raise ConfigurationError(
            f"{len(folders)} folders, more than {SKILL_LIMIT}, in a folder of skills",
            where=str(root),
            remedy="Name the folder that holds only skills.",
        )
    return folders
