"""Skills: playbooks with scripts, read from folders and checked before anything trusts them."""

from truepenny.skill.folder import Script, Skill, SkillInvalid, read

__all__ = ["Script", "Skill", "SkillInvalid", "read"]
