"""The tool that loads skills: whole or marked, near names for an unknown one."""

from pathlib import Path

import pytest

from truepenny.execute.ending import Outcome
from truepenny.skill import Skills, shipped
from truepenny.skill.catalogue import CATALOGUE_CHARS, DESCRIPTION_CHARS, catalogue
from truepenny.skill.tool import SHOWN_BYTES, skill_tool
from truepenny.text.redact import Redactor
from truepenny.tool.contract import ActionClass, CallContext
from truepenny.tool.result import Result

from .test_skills import put

pytestmark = pytest.mark.anyio


async def load(tmp_path: Path, skills: Skills, **arguments: object) -> Result:
    context = CallContext("me", "s", "call_1", tmp_path, Redactor())
    return await skill_tool(skills).run(arguments, context)


def long(root: Path, line: str, count: int) -> Skills:
    path = put(root, "one") / "SKILL.md"
    path.write_text(path.read_text(encoding="utf-8") + line * count, encoding="utf-8")
    return Skills.load([root])


async def test_each_shipped_playbook_comes_whole(tmp_path: Path) -> None:
    skills = Skills.load([shipped()])
    assert skill_tool(skills).action_class is ActionClass.READ
    for name, skill in skills.by_name.items():
        result = await load(tmp_path, skills, name=name)
        assert result.facts.completeness.state == "complete", name
        assert all(script.summary in result.text for script in skill.scripts)


async def test_a_script_is_shown_and_not_run(tmp_path: Path) -> None:
    put(tmp_path / "root", "one")
    skills = Skills.load([tmp_path / "root"])
    result = await load(tmp_path, skills, name="one", file="scripts/a.sh")
    assert (result.outcome, result.text) == (Outcome.SUCCESS, "echo a\n")


@pytest.mark.parametrize("file", ["../two/SKILL.md", "/etc/passwd", "a.sh"])
async def test_only_files_that_the_skill_names_are_there(tmp_path: Path, file: str) -> None:
    put(tmp_path / "root", "one")
    result = await load(tmp_path, Skills.load([tmp_path / "root"]), name="one", file=file)
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert "scripts/a.sh" in result.text


async def test_an_unknown_name_tells_the_near_ones(tmp_path: Path) -> None:
    result = await load(tmp_path, Skills.load([shipped()]), name="pod-pending")
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert "pod-pending-debug" in result.text


async def test_a_long_one_comes_in_pages_that_join_to_the_whole(tmp_path: Path) -> None:
    skills = long(tmp_path / "root", "word " * 20 + "\n", 800)
    pages: list[str] = []
    following: int | None = 1
    while following is not None:
        result = await load(tmp_path, skills, name="one", from_line=following)
        assert len(result.text.encode()) <= SHOWN_BYTES
        assert result.facts.completeness.state == "partial"
        pages.append(result.text)
        following = result.facts.detail["next_line"]
    assert len(pages) > 1
    assert "".join(pages).startswith(skills.by_name["one"].body.rstrip("\n"))


async def test_a_line_that_is_cut_inside_is_never_complete(tmp_path: Path) -> None:
    skills = long(tmp_path / "root", "x" * (SHOWN_BYTES + 1), 1)
    result = await load(tmp_path, skills, name="one", from_line=2)
    assert result.facts.completeness.reason == "a line was cut inside"
    assert len(result.text.encode()) <= SHOWN_BYTES


async def test_a_line_behind_the_end_is_not_an_empty_page(tmp_path: Path) -> None:
    result = await load(tmp_path, long(tmp_path / "root", "", 0), name="one", from_line=99)
    assert result.outcome is Outcome.INVALID_ARGUMENTS


async def test_without_a_name_all_are_listed(tmp_path: Path) -> None:
    skills = Skills.load([shipped()])
    result = await load(tmp_path, skills)
    assert len(result.text.splitlines()) == len(skills.by_name)


def test_the_shipped_catalogue_fits_its_budget() -> None:
    skills = Skills.load([shipped()])
    assert len(catalogue(skills).splitlines()) == len(skills.by_name)
    assert len(catalogue(skills)) <= CATALOGUE_CHARS


def test_a_cut_catalogue_says_how_many_are_left_out(tmp_path: Path) -> None:
    for name in ("one", "three", "two"):
        put(tmp_path, name, "d" * (DESCRIPTION_CHARS + 1))
    told = catalogue(Skills.load([tmp_path]), limit=DESCRIPTION_CHARS + 20).splitlines()
    assert told[0].endswith("d…")
    assert told[1:] == ["- and 2 more: call skill without a name"]
