"""Skills of several roots: what shadows is said, and what is broken is not used."""

from pathlib import Path

import pytest

from truepenny.errors import ConfigurationError
from truepenny.skill import Skills, shipped
from truepenny.tool.script import UnknownScript


def put(root: Path, name: str, description: str = "What it is for.") -> Path:
    scripts = root / name / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "a.sh").write_text("echo a\n", encoding="utf-8")
    (root / name / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: {description}\nscripts:\n  a.sh:\n"
        "    contexts: [pod, local]\n"
        "    interpreter: sh\n    summary: Says a.\n    arguments: none\n---\nThe body.\n",
        encoding="utf-8",
    )
    return root / name


def test_the_shipped_skills_are_found() -> None:
    assert "pod-pending-debug" in Skills.load([shipped()]).by_name


def test_a_later_root_shadows_and_it_is_said(tmp_path: Path) -> None:
    first = put(tmp_path / "first", "one", "first")
    second = put(tmp_path / "second", "one", "second")
    skills = Skills.load([tmp_path / "first", tmp_path / "second"])
    assert skills.by_name["one"].description == "second"
    assert skills.warnings == (f"{second}: used in place of {first}",)


def test_a_broken_skill_does_not_become_the_one_it_shadows(tmp_path: Path) -> None:
    put(tmp_path / "first", "one")
    (put(tmp_path / "second", "one") / "SKILL.md").write_text("no head\n", encoding="utf-8")
    skills = Skills.load([tmp_path / "first", tmp_path / "second"])
    assert (skills.by_name, len(skills.refused)) == ({}, 1)


def test_a_linked_skill_is_refused(tmp_path: Path) -> None:
    target = put(tmp_path / "elsewhere", "one")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "one").symlink_to(target)
    skills = Skills.load([tmp_path / "root"])
    assert skills.by_name == {}
    assert "symbolic link" in str(skills.refused[0])


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be listed"):
        Skills.load([tmp_path / "none"])


def test_a_script_is_handed_out_with_its_documentation(tmp_path: Path) -> None:
    put(tmp_path, "one")
    script = Skills.load([tmp_path]).script("one", "a.sh")
    assert (script.body, script.contexts) == (b"echo a\n", ("local", "pod"))
    assert script.documentation == "Says a.\nArguments: none"


@pytest.mark.parametrize(("skill", "documentation"), [("one", "The body.\n"), ("two", "")])
def test_an_unknown_script_names_the_known(tmp_path: Path, skill: str, documentation: str) -> None:
    put(tmp_path, "one")
    with pytest.raises(UnknownScript) as caught:
        Skills.load([tmp_path]).script(skill, "b.sh")
    assert (caught.value.known, caught.value.documentation) == (("one/a.sh",), documentation)
