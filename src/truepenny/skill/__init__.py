"""Skills: playbooks with scripts, read from folders and checked before anything trusts them."""

from truepenny.skill.folder import Script, Skill, SkillInvalid, read
from truepenny.skill.skills import Skills, shipped

__all__ = ["Script", "Skill", "SkillInvalid", "Skills", "read", "shipped"]
