"""Every kubectl line that a playbook shows is one that the rules for lines admit."""

import re
from pathlib import Path

import pytest

from truepenny.command.check import Admitted, check

SKILLS = Path(__file__).parents[2] / "skills"
SHOWN = re.compile(r"^ *\$ (.+)$|`(kubectl [^`]+)`", re.MULTILINE)
LINES = [
    (path.parent.name, found.group(1) or found.group(2))
    for path in sorted(SKILLS.glob("*/SKILL.md"))
    for found in SHOWN.finditer(path.read_text())
    if (found.group(1) or found.group(2)).startswith("kubectl ")
]


@pytest.mark.parametrize(("skill", "line"), LINES)
def test_a_shown_line_is_admitted(skill: str, line: str) -> None:
    assert isinstance(check(line, "local"), Admitted), skill


def test_each_playbook_of_a_cluster_shows_lines() -> None:
    named = {path.name for kind in ("*-debug", "volcano-*") for path in SKILLS.glob(kind)}
    assert named <= {skill for skill, _ in LINES}
