"""A skill's folder is read whole or refused with the field and the remedy."""

import os
from pathlib import Path

import pytest

from truepenny.skill import SkillInvalid, read

SKILLS = Path(__file__).parents[2] / "skills"
HEAD = "---\nname: one\ndescription: What it is for.\n"
SCRIPT = (
    "scripts:\n  a.sh:\n    contexts: [local]\n    interpreter: sh\n"
    "    summary: Says a.\n    arguments: none\n"
)


def write(root: Path, text: str | bytes, script: str | None = None) -> Path:
    folder = root / "one"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    if script is not None:
        (folder / "scripts" / "a.sh").write_text(script)
    return folder


@pytest.mark.parametrize("folder", sorted(SKILLS.iterdir()), ids=lambda path: path.name)
def test_a_shipped_skill_is_valid_and_names_all_its_scripts(folder: Path) -> None:
    skill = read(folder)
    assert skill.warnings == ()
    there = {path.name for path in (folder / "scripts").glob("*.*")}
    assert {script.name for script in skill.scripts} == there


def test_a_skill_is_read_with_its_script(tmp_path: Path) -> None:
    skill = read(write(tmp_path, HEAD + SCRIPT + "---\n# Body\n", "echo a\n"))
    assert (skill.body, skill.scripts[0].body) == ("# Body\n", "echo a\n")


def test_an_unknown_key_is_warned_of(tmp_path: Path) -> None:
    assert "colour" in read(write(tmp_path, HEAD + "colour: red\n---\n")).warnings[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# no head\n", "has no head"),
        ("---\n: [\n---\n", "not YAML"),
        ("---\n- a\n---\n", "not a mapping"),
        ("---\nname: two\ndescription: x\n---\n", "not the folder's name"),
        ("---\nname: one\n---\n", "description: missing"),
        ("---\nname: one\ndescription: " + "x" * 1025 + "\n---\n", "1025 characters"),
        (b"---\n\0", "zero byte at 4"),
        (b"---\n\xff", "not UTF-8 at byte 4"),
        ("x" * (256 * 1024 + 1), "larger than"),
        (HEAD + SCRIPT + "---\n", "is not there"),
        (HEAD + SCRIPT.replace("a.sh", "../a.sh") + "---\n", "not a script's name"),
        (HEAD + SCRIPT.replace("local", "moon") + "---\n", "'moon' is unknown"),
        (HEAD + SCRIPT.replace(": sh", ": perl") + "---\n", "'perl' is unknown"),
    ],
)
def test_a_broken_rule_is_named(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(SkillInvalid, match=said):
        read(write(tmp_path, text))


def test_a_link_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, HEAD + SCRIPT + "---\n")
    (folder / "scripts" / "a.sh").symlink_to("/etc/hostname")
    with pytest.raises(SkillInvalid, match="not a regular file"):
        read(folder)


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    folder = write(tmp_path, HEAD + SCRIPT + "---\n")
    os.mkfifo(folder / "scripts" / "a.sh")
    with pytest.raises(SkillInvalid, match="not a regular file"):
        read(folder)


def test_a_script_that_the_head_does_not_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillInvalid, match=r"does not name scripts/a\.sh"):
        read(write(tmp_path, HEAD + "---\n", "echo a\n"))
