"""Paths that a call names: inside the workspace by where they really lead, or not used at all."""

from __future__ import annotations

from pathlib import Path

from truepenny.tool.result import Result, invalid, refused


def inside(root: Path, name: str, what: str) -> Path | Result:
    """Return the real path of `name` (relative to the root, or absolute), or why it is not used.

    It need not exist. `what` names the argument. A link that leads out of the workspace is out:
    the check holds for the moment, and what runs is held by its sandbox.
    """
    if unusable := unusable_text(name, what):
        return unusable
    try:
        real = (root / name).resolve()
    except (OSError, RuntimeError):  # a circle of links is a RuntimeError before 3.13
        return invalid("unusable_path", f"{what} {name!r} cannot be followed to its end")
    if not real.is_relative_to(root):
        return refused(
            "outside_workspace",
            f"{what} {name!r} is outside of the workspace",
            f"use a path below {root}",
        )
    return real


def no_folder(root: Path, name: str) -> Result:
    """Return the refusal of a `cwd` that is no folder, with where to go on from."""
    hint = f"name a folder by its path from {root}, or leave cwd out: it runs there then"
    return invalid("cwd", f"cwd {name!r} is not a folder", hint)


def unusable_text(text: str, what: str, most: int | None = None) -> Result | None:
    """Return why no process can be given this text; None where it can. `most` is in bytes."""
    if "\0" in text:
        return invalid("nul_character", f"{what} has a NUL character: no process can be given it")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return invalid("not_unicode", f"{what} has half of a character (a lone surrogate)")
    if most is not None and size > most:
        return invalid("too_long", f"{what} has {size} bytes; {most} are the most")
    return None
