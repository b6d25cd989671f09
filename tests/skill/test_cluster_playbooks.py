"""Every line that a playbook shows is one that the rules for lines admit where it is meant to run.

A fence says where: ```console for the local context, or ```console node, pod or host.
"""

import re
from pathlib import Path

import pytest

from truepenny.command.check import Admitted, check
from truepenny.command.program.grammar import CONTEXTS

SKILLS = Path(__file__).parents[2] / "skills"
FENCE = re.compile(r"^ *```(\w+)(?: (\S+))?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^ *\$ (.+)$", re.MULTILINE)
INLINE = re.compile(r"`(kubectl [^`]+)`")
LINELESS = {"manage-skill", "skill-authoring"}  # playbooks about skills, not about a cluster


def shown(text: str) -> list[tuple[str, str]]:
    """Each line that the text shows, with the context that its fence names."""
    lines = [
        (fence.group(2) or "local", line)
        for fence in FENCE.finditer(text)
        if fence.group(1) == "console"
        for line in SHOWN.findall(fence.group(3))
    ]
    return lines + [("local", line) for line in INLINE.findall(FENCE.sub("", text))]


PLAYBOOKS = {path.parent.name: path.read_text() for path in sorted(SKILLS.glob("*/SKILL.md"))}
LINES = [(name, *found) for name, text in PLAYBOOKS.items() for found in shown(text)]


@pytest.mark.parametrize(("skill", "context", "line"), LINES)
def test_a_shown_line_is_admitted(skill: str, context: str, line: str) -> None:
    judged = check(line, context)
    assert isinstance(judged, Admitted), (skill, judged)


def test_a_fence_names_its_context() -> None:
    text = (
        "```console\n$ a\n```\n\n   ```console node\n   $ b\n   $ c\n   ```\n\n`kubectl version`\n"
    )
    assert shown(text) == [
        ("local", "a"),
        ("node", "b"),
        ("node", "c"),
        ("local", "kubectl version"),
    ]
    assert {context for _, context, _ in LINES} <= set(CONTEXTS)


@pytest.mark.parametrize(("skill", "text"), PLAYBOOKS.items())
def test_each_shell_line_of_a_playbook_is_in_a_fence_that_is_checked(skill: str, text: str) -> None:
    fences = [fence.group(1) for fence in FENCE.finditer(text)]
    assert set(fences) <= {"console", "text", "markdown"}, skill
    assert len(SHOWN.findall(text)) == sum(1 for name, _, line in LINES if name == skill) - len(
        INLINE.findall(FENCE.sub("", text))
    )


def test_each_playbook_shows_lines() -> None:
    assert set(PLAYBOOKS) - LINELESS <= {name for name, _, _ in LINES}
