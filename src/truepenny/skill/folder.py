"""A skill's folder: `SKILL.md` with its head in YAML, and the scripts it names (diagnostics 7)."""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import yaml

from truepenny.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

DESCRIPTION_LIMIT = 1024  # characters: the catalogue of all skills is in every system prompt
FILE_LIMIT = 256 * 1024  # bytes: a playbook is read whole by a model, a script is sent whole
CONTEXTS = frozenset({"local", "node", "pod", "host"})
INTERPRETERS = frozenset({"bash", "sh", "python3"})
SKILL_KEYS = frozenset({"name", "description", "scripts"})
SCRIPT_KEYS = frozenset({"contexts", "interpreter", "summary", "arguments"})
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
SCRIPT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\.(?:sh|py)", re.ASCII)
HEAD = re.compile(r"---\n(.*?\n)---\n(.*)", re.DOTALL)


class SkillInvalid(ConfigurationError):
    """A skill's folder breaks a rule of the format; nothing of it is used."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script of a skill: its text, what runs it, and in which contexts it may run."""

    skill: str
    name: str
    body: str
    interpreter: str
    contexts: frozenset[str]
    summary: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Skill:
    """A checked skill; `warnings` name keys that nothing reads."""

    name: str
    description: str
    body: str
    scripts: tuple[Script, ...]
    warnings: tuple[str, ...]


def read(folder: Path) -> Skill:
    """Return the skill in `folder`; SkillInvalid names the file and field that break a rule."""
    if folder.is_symlink():
        raise _invalid(folder, "is a symbolic link", "Put the folder itself there.")
    path = folder / "SKILL.md"
    found = HEAD.fullmatch(_text(folder, "SKILL.md"))
    if found is None:
        raise _invalid(path, "has no head", "Begin with a line ---, YAML, and a line ---.")
    try:
        head = _mapping(yaml.safe_load(found[1]), path, "the head")
    except yaml.YAMLError as error:
        raise _invalid(path, f"the head is not YAML: {error}", "Correct the head.") from error
    name = _words(head, "name", path)
    if name != folder.name or not NAME.fullmatch(name):
        remedy = f"Use lower-case words joined by hyphens, the same as the folder {folder.name!r}."
        raise _invalid(path, f"name: {name!r} is not the folder's name", remedy)
    description = _words(head, "description", path)
    if len(description) > DESCRIPTION_LIMIT:
        fact = f"description: {len(description)} characters, more than {DESCRIPTION_LIMIT}"
        raise _invalid(path, fact, "Shorten it.")
    warnings = [f"{path}: {key}: nothing reads this key" for key in head if key not in SKILL_KEYS]
    scripts: list[Script] = []
    declared = _mapping(head["scripts"], path, "scripts") if "scripts" in head else {}
    for file, value in declared.items():
        place = f"scripts.{file}"
        entry = _mapping(value, path, place)
        warnings += [
            f"{path}: {place}.{k}: nothing reads this key" for k in entry if k not in SCRIPT_KEYS
        ]
        scripts.append(_script(folder, path, name, file, entry))
    _refuse_undeclared(folder, path, declared.keys())
    return Skill(name, description, found[2], tuple(scripts), tuple(warnings))


def _script(folder: Path, path: Path, skill: str, file: str, entry: dict[str, object]) -> Script:
    place = f"scripts.{file}"
    if not SCRIPT_NAME.fullmatch(file):
        raise _invalid(path, f"{place}: not a script's name", "Name a .sh or .py file in scripts/.")
    if (folder / "scripts").is_symlink():
        raise _invalid(folder / "scripts", "is a symbolic link", "Put the folder itself there.")
    contexts = entry.get("contexts")
    known = ", ".join(sorted(CONTEXTS))
    if not isinstance(contexts, list) or not contexts:
        raise _invalid(path, f"{place}.contexts: not a list", f"List one or more of {known}.")
    for context in cast("list[object]", contexts):
        if context not in CONTEXTS:
            raise _invalid(path, f"{place}.contexts: {context!r} is unknown", f"Use {known}.")
    interpreter = _words(entry, "interpreter", path, f"{place}.")
    if interpreter not in INTERPRETERS:
        remedy = f"Use one of {', '.join(sorted(INTERPRETERS))}."
        raise _invalid(path, f"{place}.interpreter: {interpreter!r} is unknown", remedy)
    return Script(
        skill=skill,
        name=file,
        body=_text(folder, "scripts", file),
        interpreter=interpreter,
        contexts=frozenset(cast("list[str]", contexts)),
        summary=_words(entry, "summary", path, f"{place}."),
        arguments=_words(entry, "arguments", path, f"{place}."),
    )


def _refuse_undeclared(folder: Path, path: Path, declared: Collection[str]) -> None:
    # A file that the head does not name has no context and no interpreter that anyone agreed to.
    try:
        names = sorted(entry.name for entry in (folder / "scripts").iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(folder / "scripts", error) from error
    for name in names:
        if name not in declared:
            remedy = "Declare it there, or take it out of scripts/."
            raise _invalid(path, f"scripts: does not name scripts/{name}", remedy)


def _open(folder: Path, parts: tuple[str, ...]) -> int:
    """Open a file below `folder` by descriptors, so that no step goes through a symbolic link."""
    step = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            deeper = os.open(part, flags, dir_fd=step)
            os.close(step)
            step = deeper
        # Not blocking: opening a named pipe would wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(parts[-1], flags, dir_fd=step)
    finally:
        os.close(step)


def _text(folder: Path, *parts: str) -> str:
    path = folder.joinpath(*parts)
    try:
        with open(_open(folder, parts), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise _invalid(path, "is not a regular file", "Put the file itself there.")
            data = stream.read(FILE_LIMIT + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(data) > FILE_LIMIT:
        raise _invalid(path, f"is larger than {FILE_LIMIT} bytes", "Shorten it.")
    if b"\0" in data:
        raise _invalid(path, f"is binary: a zero byte at {data.index(0)}", "Use text.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(path, f"is not UTF-8 at byte {error.start}", "Save it as UTF-8.") from error


def _mapping(value: object, path: Path, place: str) -> dict[str, object]:
    if not isinstance(value, dict) or not all(
        isinstance(k, str) for k in cast("dict[object, object]", value)
    ):
        raise _invalid(path, f"{place} is not a mapping of names", "Write `key: value` lines.")
    return cast("dict[str, object]", value)


def _words(head: dict[str, object], key: str, path: Path, prefix: str = "") -> str:
    value = head.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _invalid(path, f"{prefix}{key}: missing, empty or not text", "Write it as text.")
    return value


def _unreadable(path: Path, error: OSError) -> SkillInvalid:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return _invalid(
            path, "is not a regular file, or behind a link", "Put the file itself there."
        )
    if error.errno == errno.ENOENT:
        return _invalid(path, "is not there", "Put the file there.")
    return _invalid(path, f"cannot be read: {error.strerror}", "Let this user read it.")


def _invalid(path: Path, fact: str, remedy: str) -> SkillInvalid:
    return SkillInvalid(fact, where=str(path), remedy=remedy)
