"""The `skill` tool: loads a playbook, or one of its scripts, as text to read (diagnostics 7)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.model.message import Text
from truepenny.text.bound import Limits, bound
from truepenny.text.control import strip_control
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Completeness, Facts, Result, invalid

from .catalogue import entry
from .folder import Skill
from .skills import Skills

SHOWN_BYTES = 32 * 1024
"""Of one answer: every shipped playbook is shown whole, a file of the largest size in 8 calls."""

NAMES_SHOWN = 50
"""Names that are told where one is unknown."""

PLAYBOOK = "SKILL.md"

_DESCRIPTION = """\
Load a skill: a playbook for one kind of problem. Read the one that fits before you begin. `file` \
shows one of its scripts instead. Without a name it lists all skills. Nothing runs, and a skill \
gives no permission that you do not have."""


def skill_tool(skills: Skills) -> Tool:
    """Return the tool. `Facts.detail` holds `skill` and `file` (both None for the list),
    `from_line` and `next_line` (None: that was the last). An unknown name is answered with `near`
    ones and how many are `known`."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        name, file = arguments.get("name"), arguments.get("file")
        if name is None:
            if file is not None:
                return invalid("name", "a file needs the name of its skill", "give `name` as well")
            text = "\n".join(entry(skill) for skill in skills.by_name.values())
            return _shown(text or "There is no skill.", arguments, context)
        skill = skills.by_name.get(name)
        if skill is None:
            return _unknown("name", f"there is no skill {name!r}", name, tuple(skills.by_name))
        files = {PLAYBOOK: _playbook(skill)}
        files.update({f"scripts/{script.name}": script.body for script in skill.scripts})
        wanted = PLAYBOOK if file is None else file
        if wanted not in files:
            message = f"skill {name} has no file {wanted!r}"
            return _unknown("file", message, wanted, tuple(files))
        return _shown(files[wanted], arguments, context, name, wanted)

    return Tool(
        name="skill",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The skill's name."},
                "file": {
                    "type": "string",
                    "description": f"{PLAYBOOK} unless given, or scripts/NAME.",
                },
                "from_line": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "First line shown, 1 unless given.",
                },
            },
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.RETRIEVE,
        example={"name": "pod-pending-debug"},
    )


def _playbook(skill: Skill) -> str:
    """Return the playbook with what its head says of scripts, as a caller of one needs it."""
    told = [
        f"- {script.name} (contexts: {', '.join(sorted(script.contexts))}): {script.summary}\n"
        f"  Arguments: {script.arguments}"
        for script in skill.scripts
    ]
    return "\n".join([skill.body.rstrip("\n"), *(["", "Scripts:", *told] if told else [])]) + "\n"


def _shown(
    text: str,
    arguments: Mapping[str, Any],
    context: CallContext,
    name: str | None = None,
    file: str | None = None,
) -> Result:
    redacted = context.redactor.text(strip_control(text))
    lines = redacted.text.splitlines(keepends=True)
    first = arguments.get("from_line", 1)
    if first > max(len(lines), 1):
        message = f"from_line is {first}; there are {len(lines)} lines"
        return invalid("from_line", message, f"use 1 to {max(len(lines), 1)}")
    kept: list[str] = []
    size = 0
    inside = False
    for line in lines[first - 1 :]:
        room = SHOWN_BYTES - size
        if len(line.encode()) > room:
            if not kept:
                # One line that is larger than an answer: its middle is left out, and marked.
                kept, inside = [bound(line, Limits(bytes=SHOWN_BYTES)).text], True
            break
        kept.append(line)
        size += len(line.encode())
    following = first + len(kept)
    more = following <= len(lines)
    shown = "".join(kept)
    whole = Completeness(unit="lines", shown=len(kept), total=len(lines))
    if more or first > 1 or inside:
        words = [f"name={name}"] * (name is not None) + [f"file={file}"] * (file is not None)
        following_call = " ".join(["skill", *words, f"from_line={following}"]) if more else ""
        reason = "a line was cut inside" if inside else "one page"
        whole = Completeness(
            "partial", reason, "lines", len(kept) - inside, len(lines), following_call
        )
    facts = Facts(
        completeness=whole,
        redactions=redacted.counts,
        bytes=ByteCounts(len(redacted.text.encode()), len(shown.encode())),
        detail={
            "skill": name,
            "file": file,
            "from_line": first,
            "next_line": following if more else None,
        },
    )
    return Result(Outcome.SUCCESS, (Text(shown),), facts)


def _unknown(field: str, message: str, wanted: str, known: tuple[str, ...]) -> Result:
    near = difflib.get_close_matches(wanted, known, n=3)
    told = f"near: {', '.join(near)}; " if near else ""
    told += f"there are: {', '.join(known[:NAMES_SHOWN]) or 'none'}"
    if (left := len(known) - NAMES_SHOWN) > 0:
        told += f" and {left} more"
    return invalid(field, f"{message}; {told}", "use one of these", near=near, known=len(known))
